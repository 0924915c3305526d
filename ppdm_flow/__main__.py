"""``python -m ppdm_flow``."""

from ppdm_flow.cli.main import main

main()
