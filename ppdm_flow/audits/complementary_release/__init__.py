"""The plugin `complementary_release`."""
