/** Values of the chart that its templates refuse, and what they say of them. */

export const REFUSALS = [
  ...['1a', 'a.b'].map((release) => ({
    title: `a release named ${release}, after which no service can be named, is told what to set`,
    release,
    refusal: /waypost: no service can be named .* Set fullnameOverride/,
  })),
  {
    title: 'a login that neither the application nor all have is missed at once',
    values: 'own-logins-values.yaml',
    flags: ['--set', 'setUp.secrets=null'],
    refusal: /waypost: set-up needs DATABASE_URL/,
  },
];
