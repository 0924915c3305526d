import a_package_that_nobody_has  # noqa
