interface Branding {
  readonly brandColor?: string;
  readonly colorScheme: string;
}

type Channels = readonly number[];

/** Text on the accent in the dark scheme, where the accent is light. */
const DARK_TEXT = '#101414';
/** The darkest ground of the light scheme, and the lightest of the dark one. */
const [LIGHT_GROUND, DARK_GROUND] = [channelsOf('#f5f7f8'), channelsOf('#1a2422')];
const [BLACK, WHITE] = [channelsOf('#000000'), channelsOf('#ffffff')];
/** WCAG 2.2 asks for 4.5; links also stand on a tint of the brand color. */
const READABLE_CONTRAST = 5;
const STEPS = 50;

/** Custom properties of the page in the color of the fleet, readable in both schemes. By script: the policy has no inline styles. */
export function brandProperties({ brandColor, colorScheme }: Branding): Readonly<Record<string, string>> {
  const scheme = colorScheme === 'light' || colorScheme === 'dark' ? { 'color-scheme': colorScheme } : {};
  if (brandColor === undefined) return scheme;
  const channels = channelsOf(brandColor);
  const [onLight, onDark] = [readable(channels, BLACK, LIGHT_GROUND), readable(channels, WHITE, DARK_GROUND)];
  return {
    ...scheme,
    '--accent': `light-dark(${onLight}, ${onDark})`,
    '--accent-tint': `color-mix(in srgb, ${brandColor} 14%, var(--surface))`,
    '--on-accent': `light-dark(#ffffff, ${DARK_TEXT})`,
  };
}

export function applyBranding(branding: Branding): void {
  for (const [name, value] of Object.entries(brandProperties(branding))) {
    document.documentElement.style.setProperty(name, value);
  }
}

/** The color as it is if it can be read on the ground, otherwise as little toward black or white as it takes. */
function readable(color: Channels, toward: Channels, ground: Channels): string {
  for (let step = 0; step < STEPS; step++) {
    const mixed = color.map((channel, index) =>
      Math.round(channel + ((toward[index] ?? 0) - channel) * (step / STEPS)),
    );
    if (contrast(mixed, ground) >= READABLE_CONTRAST) return hexOf(mixed);
  }
  return hexOf(toward);
}

/** Of WCAG 2.2, from 1 to 21. */
function contrast(one: Channels, other: Channels): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(channels: Channels): number {
  const [red = 0, green = 0, blue = 0] = channels.map((channel) => linear(channel / 255));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function linear(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
}

function channelsOf(color: string): Channels {
  return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
}

function hexOf(channels: Channels): string {
  return `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}
