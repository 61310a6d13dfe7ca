/** The accent of a host is readable, whatever it is. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { accentColours, brandCss, DEFAULT_ACCENT } from '../../../adapters/portal/brand.js'

type Colour = readonly [number, number, number]

/** sRGB channels from 0 to 1. */
const colourOf = (hex: string): Colour => {
  const [r, g, b] = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
  return [r!, g!, b!]
}
const linear = (channel: number) =>
  channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4

/** WCAG 2.2, relative luminance and contrast ratio. */
const luminance = (colour: Colour) => {
  const [r, g, b] = colour.map(linear)
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
}
const contrast = (text: Colour, ground: Colour) => {
  const [low, high] = [luminance(text), luminance(ground)].sort((a, b) => a - b)
  return (high! + 0.05) / (low! + 0.05)
}

/** The tokens of the page's style sheet, in the light and the dark theme. */
const tokens = readFileSync(new URL('../../../adapters/portal/app/style/tokens.css', import.meta.url), 'utf8')
function token(name: string): Readonly<Record<'light' | 'dark', Colour>> {
  const [, light, dark] = new RegExp(`--${name}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(tokens)!
  const whole = (hex: string) => (hex.length === 4 ? `#${[...hex.slice(1)].map((c) => c + c).join('')}` : hex)
  return { light: colourOf(whole(light!)), dark: colourOf(whole(dark!)) }
}

type Matrix = readonly [Colour, Colour, Colour]
const times = (matrix: Matrix, vector: Colour) =>
  matrix.map((row) =>
    row.reduce((sum, factor, index) => sum + factor * vector[index]!, 0),
  ) as unknown as Colour
/** Linear sRGB to the cones of OKLab and back. The step from there to OKLab is linear, so a mixture needs no more. */
const TO_CONES: Matrix = [
  [0.41222147, 0.53633254, 0.05144599],
  [0.2119035, 0.68069955, 0.10739696],
  [0.08830246, 0.28171884, 0.6299787],
]
const FROM_CONES: Matrix = [
  [4.07674166, -3.30771159, 0.23096993],
  [-1.268438, 2.6097574, -0.3413194],
  [-0.00419609, -0.70341861, 1.7076147],
]

/** `color-mix(in oklab, colour share, ground)`. */
function mixed(colour: Colour, share: number, ground: Colour): Colour {
  const [first, second] = [colour, ground].map((part) =>
    times(TO_CONES, part.map(linear) as unknown as Colour).map(Math.cbrt),
  )
  const cones = first!.map((value, index) => (value * share + second![index]! * (1 - share)) ** 3)
  return times(FROM_CONES, cones as unknown as Colour).map((value) =>
    value <= 0.0031308 ? Math.max(0, value) * 12.92 : 1.055 * Math.min(1, value) ** (1 / 2.4) - 0.055,
  ) as unknown as Colour
}

function hexOfHsl(hue: number, saturation: number, lightness: number): string {
  const chroma = saturation * Math.min(lightness, 1 - lightness)
  const channel = (offset: number) => {
    const k = (offset + hue / 30) % 12
    const value = lightness - chroma * Math.max(-1, Math.min(k - 3, 9 - k, 1))
    return Math.round(value * 255)
      .toString(16)
      .padStart(2, '0')
  }
  return `#${channel(0)}${channel(8)}${channel(4)}`
}

const COLOURS = [...Array(24).keys()].flatMap((step) =>
  [0.05, 0.25, 0.45, 0.6, 0.75, 0.95].flatMap((lightness) =>
    [0, 0.5, 1].map((saturation) => hexOfHsl(step * 15, saturation, lightness)),
  ),
)

describe('the accent', () => {
  it('is readable in both themes, as text and under text, for 432 colours', () => {
    expect(COLOURS).toHaveLength(432)
    const grounds = ['panel', 'ground', 'bad-tint'].map(token)
    const [ink, ink3, panel, onAccent] = [token('ink'), token('ink-3'), token('panel'), token('on-accent')]
    const unreadable: string[] = []
    for (const accent of COLOURS) {
      const colours = accentColours(accent)
      for (const theme of ['light', 'dark'] as const) {
        const colour = colourOf(colours[theme])
        const soft = mixed(colour, 0.08, panel[theme])
        const pairs: readonly (readonly [string, Colour, Colour])[] = [
          ['text on it', onAccent[theme], colour],
          ...grounds.map((ground, index) => [`on ground ${index}`, colour, ground[theme]] as const),
          ['on its tint', colour, soft],
          ['least text on its tint', ink3[theme], soft],
          ['text under the pointer', onAccent[theme], mixed(colour, 0.88, ink[theme])],
        ]
        for (const [what, text, ground] of pairs) {
          const ratio = contrast(text, ground)
          if (ratio < 4.5)
            unreadable.push(`${accent} ${theme} ${colours[theme]}: ${what} ${ratio.toFixed(2)}`)
        }
      }
    }
    expect(unreadable).toEqual([])
  })

  it('keeps a colour that is readable, and the hue of others', () => {
    expect(accentColours('#4a3fc7').light).toBe('#4a3fc7')
    expect(accentColours('#0a7').light).toBe(accentColours('#00aa77').light)
    expect(accentColours('#000').light).toBe('#000000')
    const [r, g, b] = colourOf(accentColours('#ffdd00').light)
    expect(r > b && g > b).toBe(true)
  })

  it('is in the page what a host without one gets', () => {
    const { light, dark } = accentColours(DEFAULT_ACCENT)
    expect(token('accent')).toEqual({ light: colourOf(light), dark: colourOf(dark) })
  })

  it('is a style sheet of colours alone, which outranks that of the page', () => {
    expect(brandCss('#4a3fc7')).toMatch(
      /^html:root \{\n {2}--accent: light-dark\(#[\da-f]{6}, #[\da-f]{6}\);\n\}\n$/,
    )
  })
})
