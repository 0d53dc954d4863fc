import importlib.util

import onepeak.serving


def test_no_public_name_is_hidden_by_a_module_of_the_same_name():
    """Once imported, the module would be found in place of the function."""
    for name in onepeak.serving.__all__:
        assert importlib.util.find_spec(f"onepeak.serving.{name}") is None, name
