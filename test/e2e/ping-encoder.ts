import { readFileSync } from 'node:fs';
import avro from 'avsc';

const topic = 'telemetry.pings';
const schemaFile = new URL('../../schemas/telemetry.pings-value.avsc', import.meta.url);

/** As another producer would write them: valid fixes, of which only the times differ. */
export async function pingEncoder(
  registryUrl: string,
  { fleet, deviceId }: { readonly fleet: string; readonly deviceId: string },
): Promise<(times: { readonly eventTime: number; readonly receivedTime: number }) => Buffer> {
  const response = await fetch(`${registryUrl}/subjects/${topic}-value/versions/latest`);
  const { id } = (await response.json()) as { id: number };
  const schema = avro.Type.forSchema(JSON.parse(readFileSync(schemaFile, 'utf8')) as avro.Schema);
  const ping = { fleetId: fleet, deviceId, positionValid: true, latitude: 52.1, longitude: 11.6 };
  return (times) => Buffer.concat([wireHeader(id), schema.toBuffer({ ...unreported(schema), ...ping, ...times })]);
}

/** The defaults of the schema's other fields. */
function unreported(schema: avro.Type): Record<string, unknown> {
  const { fields } = schema as avro.types.RecordType;
  return Object.fromEntries(fields.map((field) => [field.name, field.defaultValue()]));
}

/** The wire format: a zero byte and the id of the schema come before the Avro bytes. */
export function wireHeader(schemaId: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes.writeInt32BE(schemaId, 1);
  return bytes;
}
