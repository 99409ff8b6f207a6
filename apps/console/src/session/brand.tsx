import { useSession } from './session.js';

/** The logo of the fleet in its portal, else our name with our mark. */
export function Brand() {
  const { info, portal } = useSession();
  // It has its place before it is known whose it is.
  if (portal !== null && info === null) return '\u00a0';
  const logoUrl = info?.type === 'portal_session' ? info.branding?.logoUrl : undefined;
  if (logoUrl !== undefined) return <img src={logoUrl} alt="Overview" height={24} />;
  return (
    <>
      <span className="mark" aria-hidden="true" />
      Waypost
    </>
  );
}
