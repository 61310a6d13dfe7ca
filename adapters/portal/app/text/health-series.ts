/** Totals and percentages. Pure. */
import { percentFormat } from './formats.js'

/** `undefined` of nothing. */
export function percent(part: number, whole: number): number | undefined {
  return whole === 0 ? undefined : (part / whole) * 100
}

export const sum = (counts: readonly (number | null)[]): number =>
  counts.reduce<number>((total, count) => total + (count ?? 0), 0)

/** `100 %` and `0 %` only where they are exact: 99.99 % is no success rate of 100 %. */
export function percentText(value: number, language: string): string {
  const rounded = Math.round(value * 10) / 10
  const shown = rounded === 100 && value < 100 ? 99.9 : rounded === 0 && value > 0 ? 0.1 : rounded
  return `${percentFormat(language).format(shown)} %`
}
