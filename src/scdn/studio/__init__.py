"""The web page: see the network, move things, watch it learn. A server and a prebuilt bundle."""
