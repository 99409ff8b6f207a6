import { join } from 'node:path';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { FLEET_ID_FORM } from '@waypost/domain';
import { consoleHeaders, type PortalPage } from './console-headers.js';
import type { MapTiles } from './map-tiles-config.js';

/** The pages of the console: each is the same document, which draws the page that the address names. */
const PAGES = /^\/((overview|deliveries|subscriptions|vehicles)?(\/[^/]+)?|fleets|topics|partitions)\/?$/;
/** In front of the pages of one fleet, for an operator. */
const FLEET = new RegExp(`^/fleets/${FLEET_ID_FORM}(?=/)`);
/** The portal of a fleet and, in the address that the link of a session has, the session. */
const PORTAL =
  /^\/portal\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})?(\/.*)?$/;
/** Paths of the API, for browsers too. */
const API = /^\/(public|health|metrics)(\/|$)/;
const ASSETS = '/assets/';
/** Vite puts a hash of the content into the names of assets. */
const FOR_EVER = 'public, max-age=31536000, immutable';

/**
 * Serves the built console to browsers, also in place of a page that there is not, which it says so itself. Every other
 * request, and every request while it is not built, continues.
 */
export function serveConsole(folder: string, tiles: MapTiles | null): RequestHandler {
  // In no frame.
  const own = consoleHeaders(null, tiles);
  const files = express.static(folder, {
    index: false,
    redirect: false,
    setHeaders(response: Response, file) {
      response.set(own);
      response.set('cache-control', file.includes(ASSETS) ? FOR_EVER : 'no-cache');
    },
  });
  return (request, response, next) => {
    if (!isRead(request)) next();
    else if (isPage(request.path.replace(FLEET, ''))) sendPage(folder, response, own, next);
    else
      files(request, response, () => {
        if (!isLost(request)) next();
        else sendPage(folder, response.status(404), own, next);
      });
  };
}

/**
 * Serves the same pages below the address of a fleet's portal, with the frames and the logo that the fleet allows.
 * An unknown portal looks like one that allows none. The page has no data: the session that it opens decides about that.
 */
export function servePortal(
  folder: string,
  tiles: MapTiles | null,
  findPortal: (portalId: string) => Promise<PortalPage | null>,
): RequestHandler {
  return async (request, response, next) => {
    const [, portalId, rest = '/'] = PORTAL.exec(request.path) ?? [];
    if (portalId === undefined || !isRead(request) || !isPage(rest)) {
      next();
      return;
    }
    sendPage(folder, response, consoleHeaders(await findPortal(portalId), tiles), next);
  };
}

function isRead({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** A person with an address that has no page, such as a mistyped one. */
function isLost({ path, headers }: Request): boolean {
  return headers.accept?.includes('text/html') === true && !path.includes('.') && !API.test(path) && !PORTAL.test(path);
}

function isPage(path: string): boolean {
  return PAGES.test(path) && !path.includes('.');
}

function sendPage(
  folder: string,
  response: Response,
  headers: Readonly<Record<string, string>>,
  next: () => void,
): void {
  // The framework's own would forbid what a portal allows.
  if (!('x-frame-options' in headers)) response.removeHeader('x-frame-options');
  response.sendFile(join(folder, 'index.html'), { headers: { ...headers, 'cache-control': 'no-cache' } }, () => {
    if (!response.headersSent) next();
  });
}
