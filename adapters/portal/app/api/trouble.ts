/** How many webhooks are failing, paused or disabled: one page of each state, so a count is capped. */
import type { Page } from 'hookswitch/client'
import type { HealthRow } from './webhook-rows.js'

export const TROUBLES = ['failing', 'paused', 'disabled'] as const
export type Trouble = (typeof TROUBLES)[number]

/** The first page of each state. */
export type Troubles = Readonly<Record<Trouble, Page<HealthRow>>>

export async function loadTroubles(
  loadFirst: (state: Trouble) => Promise<Page<HealthRow>>,
): Promise<Troubles> {
  const [failing, paused, disabled] = await Promise.all(TROUBLES.map(loadFirst))
  return { failing: failing!, paused: paused!, disabled: disabled! }
}

/** A number, with `+` where there may be more; `undefined` for none. */
export function countText(
  { items, nextStartKey }: Page<HealthRow>,
  format: (count: number) => string,
): string | undefined {
  if (items.length === 0) return undefined
  return `${format(items.length)}${nextStartKey === undefined ? '' : '+'}`
}
