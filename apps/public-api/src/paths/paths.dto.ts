import { z } from 'zod';
import { formatTime, MAX_ID_LENGTH, MAX_PAGE_ITEMS, type PathPoint, RETENTION_DAYS } from '@waypost/domain';
import { endDateParameter } from '../delivery-history/delivery-history.dto.js';
import { dto } from '../endpoint/dto.js';
import { dateTime, instant, isWindow, nextPageState, parameterText, text, WINDOW_RULE } from '../endpoint/fields.js';
import { limitParameter, pageStateParameter } from '../paging/paging.dto.js';

const MAX_DEVICE_IDS = 200;
/**
 * Of the list as it stands in the URL. Every page of a walk repeats the list: the rest of the longest URL has room for
 * the other parameters and for a page token, which contains a device id itself.
 */
const MAX_WRITTEN_LENGTH = 6_000;

const idsMessage =
  `must be 1 to ${String(MAX_DEVICE_IDS)} comma-separated device ids, ` +
  `each of 1 to ${String(MAX_ID_LENGTH)} characters without control characters`;

/** An id that contains a comma cannot be filtered for. Spaces belong to the id. */
const deviceIds = z
  .array(parameterText(MAX_ID_LENGTH, idsMessage).meta({ pattern: '^[^,\\u0000-\\u001f\\u007f-\\u009f]+$' }))
  .min(1, idsMessage)
  .max(MAX_DEVICE_IDS, idsMessage)
  .optional()
  .meta({
    explode: false,
    maxWrittenLength: MAX_WRITTEN_LENGTH,
    description: `Only these devices: comma-separated ids, at most ${String(MAX_WRITTEN_LENGTH)} characters in all as written in the URL. Devices whose id contains a comma can only be read without this filter.`,
  });

export class PathsQueryDto extends dto(
  z
    .object({
      startDate: instant().meta({
        description: `Start of the window of event times, inclusive: RFC 3339 with a time zone. Clamped to the retention of ${String(RETENTION_DAYS)} days.`,
      }),
      endDate: endDateParameter,
      deviceIds,
      limit: limitParameter(MAX_PAGE_ITEMS, 'Maximum points per page, of all devices together.'),
      pageState: pageStateParameter,
    })
    .refine(isWindow, WINDOW_RULE),
) {}

const degrees = z.number().optional().meta({ description: 'WGS-84 degrees as reported; a position only if `valid`.' });

/** What the ping did not report is absent. */
const pathPoint = z
  .strictObject({
    time: dateTime.meta({ description: 'Time reported by the device: UTC, with milliseconds.' }),
    latitude: degrees,
    longitude: degrees,
    speed_in_kmh: z.number().optional(),
    heading: z.number().min(0).lt(360).optional().meta({ description: 'Degrees from true north.' }),
    ignition: z.boolean().optional().meta({ description: 'As reported by this ping.' }),
    odometer_in_meters: z.number().optional().meta({ type: 'integer' }),
    rpm: z.number().optional().meta({ type: 'integer' }),
    fuel_level: z.number().optional().meta({ description: 'Percent.' }),
    valid: z.boolean().meta({ description: 'Whether the fix is valid.' }),
  })
  .meta({ id: 'PathPoint' });

/** The points of one device on a page; its path may begin on an earlier page and continue on the next. */
const devicePath = z
  .strictObject({
    device_id: text,
    points: z.array(pathPoint).min(1).meta({ description: 'In chronological order.' }),
  })
  .meta({ id: 'DevicePath' });

export class PathsPageDto extends dto(z.strictObject({ data: z.array(devicePath), next_page_state: nextPageState })) {}

type DevicePath = z.infer<typeof devicePath>;
type ShownPoint = z.infer<typeof pathPoint>;

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
