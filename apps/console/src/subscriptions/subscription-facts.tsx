import { Fragment } from 'react';
import type { Subscription } from '@waypost/client';
import { Moment } from '../shared/moment.js';

type Facts = readonly (readonly [name: string, value: React.ReactNode])[];

/** The settings of a subscription. */
export function SubscriptionFacts({ subscription }: { readonly subscription: Subscription }) {
  const { id, url, createdAt } = subscription;
  const facts: Facts = [
    ['URL', url],
    ['Id', <code key="id">{id}</code>],
    ['Format', subscription.payloadFormat],
    ...accessOf(subscription),
    ...sendingOf(subscription),
    ...ownOf(subscription),
    ['Created', <Moment key="created" iso={createdAt} />],
  ];
  return (
    <section className="card" aria-labelledby="settings-title">
      <h2 id="settings-title">Settings</h2>
      <dl className="facts">
        {facts.map(([name, value]) => (
          <div key={name} className={name === 'URL' || name === 'Id' ? 'long' : ''}>
            <dt>{name}</dt>
            <dd className="text">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** How the receiver knows that it is Waypost. */
function accessOf({ auth, clientCertificate }: Subscription): Facts {
  const facts: Facts = [
    ['Authentication', auth.type === 'bearer' ? `bearer token of ${auth.tokenUrl}` : 'signature only'],
  ];
  if (clientCertificate === undefined) return facts;
  const { subject, expiresAt } = clientCertificate;
  return [
    ...facts,
    [
      'Client certificate',
      <span key="certificate">
        {subject}, until <Moment iso={expiresAt} />
      </span>,
    ],
  ];
}

function sendingOf({ deviceIds, onOutage, strictOrder, rateLimitPerSecond }: Subscription): Facts {
  return [
    ['Devices', deviceIds === undefined ? 'every device' : <Listed key="devices" texts={deviceIds} />],
    ['During an outage', onOutage === 'hold' ? 'deliveries are held' : 'deliveries fail after five attempts'],
    ['Order', strictOrder ? 'strict per device' : 'a retry does not hold back others'],
    ['Limit', rateLimitPerSecond === undefined ? 'none' : `${String(rateLimitPerSecond)} per second`],
  ];
}

/** What its owner has added to it. */
function ownOf({ headers, metadata }: Subscription): Facts {
  const names = headers.map(({ name, value }) => (value === undefined ? `${name} (secret)` : `${name}: ${value}`));
  const own = Object.entries(metadata).map(([key, value]) => `${key}=${value}`);
  return (
    [
      ['Custom headers', names],
      ['Metadata', own],
    ] as const
  ).flatMap(([title, texts]) => (texts.length === 0 ? [] : [[title, <Listed key={title} texts={texts} />] as const]));
}

/** Each apart from the others, whatever direction its characters have. */
function Listed({ texts }: { readonly texts: readonly string[] }) {
  return texts.map((text, index) => (
    <Fragment key={text}>
      {index > 0 && ', '}
      <bdi>{text}</bdi>
    </Fragment>
  ));
}
