interface Branding {
  readonly brandColor?: string;
  readonly colorScheme: string;
}

const DARK_TEXT = '#101414';

/** Custom properties of the page in the color of the fleet, readable in both schemes. By script: the policy has no inline styles. */
export function brandProperties({ brandColor, colorScheme }: Branding): Readonly<Record<string, string>> {
  const scheme = colorScheme === 'light' || colorScheme === 'dark' ? { 'color-scheme': colorScheme } : {};
  if (brandColor === undefined) return scheme;
  return {
    ...scheme,
    '--accent': `light-dark(${brandColor}, color-mix(in srgb, ${brandColor} 50%, white))`,
    '--accent-tint': `color-mix(in srgb, ${brandColor} 14%, var(--surface))`,
    '--on-accent': `light-dark(${isLight(brandColor) ? DARK_TEXT : '#ffffff'}, ${DARK_TEXT})`,
  };
}

export function applyBranding(branding: Branding): void {
  for (const [name, value] of Object.entries(brandProperties(branding))) {
    document.documentElement.style.setProperty(name, value);
  }
}

/** Whether dark text is read better on it than white: by its relative luminance (WCAG 2.2). */
function isLight(color: string): boolean {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => linear(parseInt(color.slice(at, at + 2), 16) / 255));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179;
}

function linear(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
}
