"""Reports on recorded runs: statistics, tables, charts, maps and an HTML page for offline use."""
