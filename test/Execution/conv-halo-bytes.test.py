"""Check that a report's only communication is a halo exchange of so many bytes a step."""

import json
import sys

report = json.load(open(sys.argv[1]))
sites = report["communication"]
assert [site["kind"] for site in sites] == ["halo_exchange"], sites
assert sites[0]["bytes"] == int(sys.argv[2]), sites
assert sites[0]["count"] == 1, sites
