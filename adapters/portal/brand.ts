/** The host's accent as a style sheet, readable on the page's colours in both themes. Pure. */

/** The accent of a host that chooses none. */
export const DEFAULT_ACCENT = '#4a3fc7'

/** The most lightness (OKLCH) of an accent with white text, on light paper. */
const MAX_LIGHTNESS = 0.47
/** The least lightness of an accent with dark text, on dark paper, and its most chroma. */
const MIN_LIGHTNESS = 0.76
const MAX_CHROMA = 0.12
/** Halvings of the chroma's range: more than 8 bits of a channel can show. */
const STEPS = 12

type Triple = readonly [number, number, number]

/** The style sheet that sets the accent. Its selector outranks those of the page's own style sheets. */
export function brandCss(accent: string): string {
  const { light, dark } = accentColours(accent)
  return `html:root {\n  --accent: light-dark(${light}, ${dark});\n}\n`
}

/**
 * An accent with its lightness held where it is readable.
 *
 * @param accent `#rgb` or `#rrggbb`
 * @returns the colours for the light and the dark theme, as `#rrggbb`
 *
 * @internal
 */
export function accentColours(accent: string): { readonly light: string; readonly dark: string } {
  const [lightness, a, b] = toOklab(channelsOf(accent))
  const paleness = Math.min(1, MAX_CHROMA / Math.max(Math.hypot(a, b), Number.MIN_VALUE))
  return {
    light: fitting([Math.min(lightness, MAX_LIGHTNESS), a, b]),
    dark: fitting([Math.max(lightness, MIN_LIGHTNESS), a * paleness, b * paleness]),
  }
}

/** The colour of this lightness and hue that screens can show, with as much of the chroma as they can. */
function fitting([lightness, a, b]: Triple): string {
  const withChroma = (share: number) => toLinear([lightness, a * share, b * share])
  if (isShown(withChroma(1))) return hexOf(withChroma(1))
  let [low, high] = [0, 1]
  for (let step = 0; step < STEPS; step++) {
    const middle = (low + high) / 2
    if (isShown(withChroma(middle))) low = middle
    else high = middle
  }
  return hexOf(withChroma(low))
}

const isShown = (linear: Triple) => linear.every((channel) => channel >= -1e-4 && channel <= 1 + 1e-4)

function channelsOf(accent: string): Triple {
  const digits = accent.slice(1)
  const size = digits.length / 3
  const channel = (index: number) => {
    const text = digits.slice(index * size, (index + 1) * size)
    const value = Number.parseInt(size === 1 ? text + text : text, 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }
  return [channel(0), channel(1), channel(2)]
}

function hexOf(linear: Triple): string {
  const digits = linear.map((channel) => {
    const value = channel <= 0.0031308 ? channel * 12.92 : 1.055 * channel ** (1 / 2.4) - 0.055
    const byte = Math.round(Math.min(1, Math.max(0, value)) * 255)
    return byte.toString(16).padStart(2, '0')
  })
  return `#${digits.join('')}`
}

const product = (rows: readonly [Triple, Triple, Triple], [x, y, z]: Triple): Triple => {
  const [first, second, third] = rows.map(([a, b, c]) => a * x + b * y + c * z)
  return [first!, second!, third!]
}

/** Linear sRGB to OKLab and back (Björn Ottosson, "A perceptual color space for image processing", 2021-01-25). */
const TO_CONES = [
  [0.4122214708, 0.5363325363, 0.0514459929],
  [0.2119034982, 0.6806995451, 0.1073969566],
  [0.0883024619, 0.2817188376, 0.6299787005],
] as const
const TO_LAB = [
  [0.2104542553, 0.793617785, -0.0040720468],
  [1.9779984951, -2.428592205, 0.4505937099],
  [0.0259040371, 0.7827717662, -0.808675766],
] as const
const FROM_LAB = [
  [1, 0.3963377774, 0.2158037573],
  [1, -0.1055613458, -0.0638541728],
  [1, -0.0894841775, -1.291485548],
] as const
const FROM_CONES = [
  [4.0767416621, -3.3077115913, 0.2309699292],
  [-1.2684380046, 2.6097574011, -0.3413193965],
  [-0.0041960863, -0.7034186147, 1.707614701],
] as const

function toOklab(linear: Triple): Triple {
  const [l, m, s] = product(TO_CONES, linear)
  return product(TO_LAB, [Math.cbrt(l), Math.cbrt(m), Math.cbrt(s)])
}

function toLinear(lab: Triple): Triple {
  const [l, m, s] = product(FROM_LAB, lab)
  return product(FROM_CONES, [l ** 3, m ** 3, s ** 3])
}
