interface Branding {
  readonly brandColor?: string;
  readonly colorScheme: string;
}

type Channels = readonly number[];

interface Scheme {
  readonly surface: Channels;
  readonly ground: Channels;
  /** Where colors get more readable. */
  readonly toward: Channels;
}

/** Text on the accent in the dark scheme, where the accent is light. */
const DARK_TEXT = '#101414';
const [BLACK, WHITE] = [channelsOf('#000000'), channelsOf('#ffffff')];
/** `surface`: as in base.css; `ground`: the darkest of the light scheme, and the lightest of the dark one. */
const LIGHT: Scheme = { surface: channelsOf('#ffffff'), ground: channelsOf('#f5f7f8'), toward: BLACK };
const DARK: Scheme = { surface: channelsOf('#141c1a'), ground: channelsOf('#1a2422'), toward: WHITE };
/** The share of the brand color in the ground of what is chosen. */
const TINT_SHARE = 0.14;
/** WCAG 2.2, AA. */
const READABLE_CONTRAST = 4.5;
const STEPS = 50;

/** Custom properties of the page in the color of the fleet, readable in both schemes. By script: the policy has no inline styles. */
export function brandProperties({ brandColor }: Branding): Readonly<Record<string, string>> {
  if (brandColor === undefined) return {};
  const channels = channelsOf(brandColor);
  const [light, dark] = [accentOf(channels, LIGHT), accentOf(channels, DARK)];
  return {
    '--accent': `light-dark(${light.accent}, ${dark.accent})`,
    '--accent-tint': `light-dark(${light.tint}, ${dark.tint})`,
    '--on-accent': `light-dark(#ffffff, ${DARK_TEXT})`,
  };
}

export function applyBranding(branding: Branding): void {
  // Not by the property: the build makes of light-dark() what only a rule of the style sheet can switch.
  document.documentElement.dataset['colorScheme'] = branding.colorScheme;
  for (const [name, value] of Object.entries(brandProperties(branding))) {
    document.documentElement.style.setProperty(name, value);
  }
}

/**
 * The color as it is if it can be read on the ground and on its tint, otherwise as little toward black or white as it takes.
 */
function accentOf(color: Channels, { surface, ground, toward }: Scheme) {
  const tint = mixed(surface, color, TINT_SHARE);
  for (let step = 0; step < STEPS; step++) {
    const accent = mixed(color, toward, step / STEPS);
    const isReadable = [ground, tint].every((behind) => contrast(accent, behind) >= READABLE_CONTRAST);
    if (isReadable) return { accent: hexOf(accent), tint: hexOf(tint) };
  }
  return { accent: hexOf(toward), tint: hexOf(tint) };
}

function mixed(color: Channels, other: Channels, share: number): Channels {
  return color.map((channel, index) => Math.round(channel + ((other[index] ?? 0) - channel) * share));
}

/** The contrast of WCAG 2.2, from 1 to 21. */
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
