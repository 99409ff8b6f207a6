import { formatTime, type PathPoint } from '@waypost/domain';

/** The points of one device on a page; its path may begin on an earlier page and go on on the next. */
export interface DevicePath {
  readonly device_id: string;
  readonly points: readonly ShownPoint[];
}

/** What the ping did not report is absent. */
export interface ShownPoint {
  readonly time: string;
  readonly latitude?: number;
  readonly longitude?: number;
  readonly speed_in_kmh?: number;
  readonly heading?: number;
  readonly ignition?: boolean;
  readonly odometer_in_meters?: number;
  readonly rpm?: number;
  readonly fuel_level?: number;
  readonly valid: boolean;
}

/** Groups points that come device by device, in their order. */
export function toDevicePaths(points: readonly PathPoint[]): DevicePath[] {
  const paths = new Map<string, ShownPoint[]>();
  for (const point of points) {
    const shown = paths.get(point.deviceId);
    if (shown === undefined) paths.set(point.deviceId, [toShownPoint(point)]);
    else shown.push(toShownPoint(point));
  }
  return [...paths].map(([deviceId, shown]) => ({ device_id: deviceId, points: shown }));
}

function toShownPoint(point: PathPoint): ShownPoint {
  return {
    time: formatTime(point.eventTime),
    ...(point.latitude === null ? {} : { latitude: point.latitude }),
    ...(point.longitude === null ? {} : { longitude: point.longitude }),
    ...(point.speedInKmh === null ? {} : { speed_in_kmh: point.speedInKmh }),
    ...(point.heading === null ? {} : { heading: point.heading }),
    ...(point.ignition === null ? {} : { ignition: point.ignition }),
    ...(point.odometerInMeters === null ? {} : { odometer_in_meters: point.odometerInMeters }),
    ...(point.rpm === null ? {} : { rpm: point.rpm }),
    ...(point.fuelLevel === null ? {} : { fuel_level: point.fuelLevel }),
    valid: point.valid,
  };
}
