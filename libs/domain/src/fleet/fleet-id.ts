/**
 * The form of a fleet id, for use in a regular expression. Ids become parts of Kafka keys and of event ids, joined by a
 * control character: no id may contain one.
 */
export const FLEET_ID_FORM = '[A-Za-z0-9][A-Za-z0-9._-]{0,127}';

const WHOLE = new RegExp(`^${FLEET_ID_FORM}$`);

export function isFleetId(text: string): boolean {
  return WHOLE.test(text);
}
