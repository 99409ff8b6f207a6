/** Values of the chart that its templates refuse, and what they say of them. */
import { secret } from '../testing/manifests.mjs';

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
  ...['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL'].flatMap((name) => [
    {
      title: `an empty ${name} of all is refused`,
      flags: ['--set', `config.${name}=`],
      refusal: new RegExp(`waypost: [\\w-]+ needs ${name}: it is empty in config`),
    },
    {
      title: `an empty ${name} of one application is refused`,
      flags: ['--set', `apps.public-api.config.${name}=`],
      refusal: new RegExp(`waypost: public-api needs ${name}: it is empty in config or in that of public-api`),
    },
  ]),
  {
    title: 'an empty registry of one application hides the secret of all, and is refused',
    flags: [
      ...secret('secrets.SCHEMA_REGISTRY_URL', 'registry'),
      ...['--set', 'apps.public-api.config.SCHEMA_REGISTRY_URL='],
    ],
    refusal: /waypost: public-api needs SCHEMA_REGISTRY_URL/,
  },
  ...['plain', 'scram-sha-256'].map((mechanism) => ({
    title: `a login by ${mechanism} is refused without a password`,
    values: 'own-logins-values.yaml',
    flags: ['--set', `config.KAFKA_SASL_MECHANISM=${mechanism},apps.telemetry-processor.secrets=null`],
    refusal: new RegExp(
      `telemetry-processor needs KAFKA_SASL_PASSWORD, because KAFKA_SASL_MECHANISM is ${mechanism}$`,
      'm',
    ),
  })),
  ...Object.entries({
    'config.KAFKA_SASL_USERNAME=': /needs KAFKA_SASL_USERNAME, because KAFKA_SASL_MECHANISM is scram-sha-512/,
    'config.KAFKA_SASL_MECHANISM=oauthbearer': /needs KAFKA_OAUTH_TOKEN_URL, because/,
    'config.KAFKA_SASL_MECHANISM=aws-msk-iam': /needs KAFKA_AWS_REGION, because/,
    'config.KAFKA_SASL_MECHANISM=scram': /KAFKA_SASL_MECHANISM is scram, but must be one of aws-msk-iam, /,
  }).map(([flag, refusal]) => ({ title: `a login is refused with ${flag}`, flags: ['--set', flag], refusal })),
  {
    title: 'a certificate is refused without a secret that could have it',
    flags: ['--set', 'certificates.secret='],
    refusal: /waypost: KAFKA_TLS_CA_FILE of [\w-]+ is \S+kafka-ca\.pem, but certificates\.secret is empty/,
  },
  ...Object.entries({
    'config.KAFKA_BROKERS=a.example:9093\\, b.example:9094': /port 9094 of KAFKA_BROKERS/,
    'config.KAFKA_BROKERS=[fd00::1]:9094': /port 9094 of KAFKA_BROKERS/,
    'config.SCHEMA_REGISTRY_URL=https://registry.example:8443/path': /port 8443 of SCHEMA_REGISTRY_URL/,
    'config.SCHEMA_REGISTRY_URL=HTTP://registry.example/a:8081': /port 80 of SCHEMA_REGISTRY_URL/,
    'apps.public-api.config.SCHEMA_REGISTRY_URL=http://other:1': /let public-api reach port 1 of SCHEMA_REGISTRY_URL/,
    'setUp.config.KAFKA_BROKERS=a.example:1': /let set-up reach port 1 of KAFKA_BROKERS/,
    'config.KAFKA_OAUTH_TOKEN_URL=https://login.example:1': /port 1 of KAFKA_OAUTH_TOKEN_URL/,
    'config.OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318': /port 4318 of OTEL_EXPORTER_OTLP_ENDPOINT/,
  }).map(([flag, refusal]) => ({
    title: `a backend is refused that the network policies do not reach, in ${flag}`,
    flags: ['--set', flag],
    refusal: new RegExp(`waypost: the network policies do not .*${refusal.source}: add it to`),
  })),
];
