"""The plane that touches the WGS-84 ellipsoid at an origin: degrees to metres, and back."""

from __future__ import annotations

import math
from dataclasses import dataclass

_EQUATOR_M, _FLATTENING = 6378137.0, 1 / 298.257223563
_ECCENTRICITY_SQ = _FLATTENING * (2 - _FLATTENING)


@dataclass(frozen=True)
class LocalPlane:
    """Metres east (x) and north (y) of an origin in degrees."""

    latitude_deg: float
    longitude_deg: float

    def metres(self, latitude_deg: float, longitude_deg: float) -> tuple[float, float]:
        """Return x and y of a place."""
        east, north = self._metres_per_radian()
        eastwards = math.remainder(longitude_deg - self.longitude_deg, 360.0)
        x = math.radians(eastwards) * east
        return x, math.radians(latitude_deg - self.latitude_deg) * north

    def degrees(self, x_m: float, y_m: float) -> tuple[float, float]:
        """Return latitude and longitude (within ±180) of a point."""
        east, north = self._metres_per_radian()
        longitude = self.longitude_deg + math.degrees(x_m / east)
        if abs(longitude) > 180:
            longitude = math.remainder(longitude, 360.0)
        return self.latitude_deg + math.degrees(y_m / north), longitude

    def _metres_per_radian(self) -> tuple[float, float]:
        """Return the metres per radian eastwards and northwards at the origin."""
        latitude = math.radians(self.latitude_deg)
        curvature = 1 - _ECCENTRICITY_SQ * math.sin(latitude) ** 2
        east = _EQUATOR_M / math.sqrt(curvature) * math.cos(latitude)
        return east, _EQUATOR_M * (1 - _ECCENTRICITY_SQ) / curvature**1.5
