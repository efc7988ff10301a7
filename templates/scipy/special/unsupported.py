"""Functions of `scipy.special` without a derivative, on purpose."""

from scipy import special

from srcdiff.rules import *

# Of whole numbers: zeros, roots and weights (which have two names), numbers of ways; settings.
nondifferentiable(
    *members(special, "ai_zeros bi_zeros bei_zeros beip_zeros ber_zeros berp_zeros erf_zeros "
                      "fresnel_zeros fresnelc_zeros fresnels_zeros jn_zeros jnjnp_zeros jnp_zeros "
                      "jnyn_zeros kei_zeros keip_zeros kelvin_zeros ker_zeros kerp_zeros y0_zeros "
                      "y1_zeros y1p_zeros yn_zeros ynp_zeros roots_chebyc roots_chebys "
                      "roots_chebyt roots_chebyu roots_hermite roots_hermitenorm roots_laguerre "
                      "roots_legendre roots_sh_chebyt roots_sh_chebyu roots_sh_legendre bernoulli "
                      "euler stirling2 factorial2 factorialk errstate geterr seterr"),
)  # fmt: skip

unsupported("Use `special.gamma(n + 1)`, which is the same.", *members(special, "factorial"))
unsupported("Use `special.binom(n, k)`, which is the same.", *members(special, "comb"))
unsupported("Use `special.poch(n - k + 1, k)`, which is the same.", *members(special, "perm"))
unsupported("Use `special.ellipk(1 - p)`.", *members(special, "ellipkm1"))
unsupported("Use `special.betainc(n - k, k + 1, 1 - p)`.", *members(special, "bdtr"))
unsupported("Use `special.betaincc(n - k, k + 1, 1 - p)`.", *members(special, "bdtrc"))
unsupported("Use `special.airy` and scale its results.", *members(special, "airye"))
unsupported("Use `special.ber`, `special.bei` and their like.", *members(special, "kelvin"))
unsupported(
    "Use `special.eval_legendre` and its like, which take the degree and `x`.",
    *members(special, "roots_gegenbauer roots_genlaguerre roots_jacobi roots_sh_jacobi chebyc "
                      "chebys chebyt chebyu gegenbauer genlaguerre hermite hermitenorm jacobi "
                      "laguerre legendre sh_chebyt sh_chebyu sh_jacobi sh_legendre assoc_laguerre "
                      "assoc_legendre_p assoc_legendre_p_all legendre_p legendre_p_all lpmv "
                      "sph_harm_y sph_harm_y_all sph_legendre_p sph_legendre_p_all sph_harm lpmn "
                      "clpmn lpn lqmn lqn"),
)  # fmt: skip
unsupported(
    "Invert the distribution function with another argument, or find the parameter by a solver of "
    "your own.",
    *members(special, "bdtri bdtrik bdtrin btdtria btdtrib chdtriv chndtr chndtridf chndtrinc "
                      "chndtrix fdtri fdtridfd gdtria gdtrib nbdtri nbdtrik nbdtrin ncfdtr "
                      "ncfdtri ncfdtridfd ncfdtridfn ncfdtrinc nctdtr nctdtridf nctdtrinc "
                      "nctdtrit nrdtrimn nrdtrisd pdtri pdtrik stdtridf kolmogi kolmogorov "
                      "smirnov smirnovi tklmbda"),
)  # fmt: skip
unsupported(
    "Give it a rule of your own, by its differential equation.",
    *members(special, "agm besselpoly elliprc elliprd elliprf elliprg elliprj ellip_harm "
                      "ellip_harm_2 ellip_normal diric it2i0k0 it2j0y0 it2struve0 itairy iti0k0 "
                      "itj0y0 itmodstruve0 itstruve0 lmbda log_wright_bessel wright_bessel "
                      "modfresnelm modfresnelp zetac riccati_jn riccati_yn mathieu_a mathieu_b "
                      "mathieu_cem mathieu_sem mathieu_modcem1 mathieu_modcem2 mathieu_modsem1 "
                      "mathieu_modsem2 mathieu_even_coef mathieu_odd_coef obl_ang1 obl_ang1_cv "
                      "obl_cv obl_cv_seq obl_rad1 obl_rad1_cv obl_rad2 obl_rad2_cv pro_ang1 "
                      "pro_ang1_cv pro_cv pro_cv_seq pro_rad1 pro_rad1_cv pro_rad2 pro_rad2_cv "
                      "pbdn_seq pbdv pbdv_seq pbvv pbvv_seq pbwa"),
)  # fmt: skip
