import { lastingName } from '../session/base-path.js';
import { useSession } from '../session/session.js';
import { type Decode, type StoredList, useStoredList } from './stored-list.js';

/** A list of this browser that is there again in the next session, and that no session with other subscriptions sees. */
export function useOwnList<Item>(name: string, decode: Decode<Item>): StoredList<Item> {
  const { info } = useSession();
  return useStoredList(lastingName(name, location.pathname, info), decode);
}
