"""What Sphinx needs to know; `build.py` puts the pages together before it is called."""

from srcdiff import __version__

project = "srcdiff"
author = "the authors of srcdiff"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
autodoc_typehints = "none"
default_role = "code"
napoleon_use_rtype = False
autodoc_member_order = "bysource"
html_theme = "furo"
html_title = "srcdiff"
html_show_copyright = False
html_static_path = ["static"]
html_css_files = ["srcdiff.css"]
pygments_style, pygments_dark_style = "friendly", "monokai"
