"""What runs have shown: tables, curves and maps, as one page that works offline."""
