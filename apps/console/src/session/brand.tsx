import { useSession } from './session.js';

/** The logo of the fleet in its portal, else our name. */
export function Brand() {
  const { info } = useSession();
  const logoUrl = info?.type === 'portal_session' ? info.branding?.logoUrl : undefined;
  return logoUrl === undefined ? 'Waypost' : <img src={logoUrl} alt="Overview" height={24} />;
}
