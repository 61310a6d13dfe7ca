/** Which webhooks the list shows together, and how many there are. Pure. */

/** `off`: switched off by its owner. One that the service has switched off needs attention. */
export const VIEWS = ['attention', 'ok', 'idle', 'off'] as const
export type View = (typeof VIEWS)[number]

/** What decides in which view a webhook is, and which state is shown. */
export interface Listed {
  readonly state: string
  readonly disable_reason?: string
  readonly pause?: { readonly kind: string }
}

export function viewOf({ state, disable_reason: reason }: Listed): View {
  if (state === 'disabled') return reason === undefined ? 'off' : 'attention'
  if (state === 'failing' || state === 'paused') return 'attention'
  return state === 'idle' ? 'idle' : 'ok'
}

/** A receiver that rejects what it is sent fails, also while it gets one event at a time: what it rejects is not kept. */
export const shownState = ({ state, pause }: Pick<Listed, 'state' | 'pause'>): string =>
  state === 'paused' && pause?.kind === 'rejected' ? 'failing' : state

/** A number of webhooks; `isCapped`: there may be more. */
export interface Count {
  readonly count: number
  readonly isCapped: boolean
}

export type Counts = Readonly<Record<View, Count>>

/** The counts of rows that are all there are. */
export function countsOf(rows: readonly Listed[]): Counts {
  const counts = Object.fromEntries(VIEWS.map((view) => [view, { count: 0, isCapped: false }])) as Record<
    View,
    { count: number; isCapped: boolean }
  >
  for (const row of rows) counts[viewOf(row)].count += 1
  return counts
}

/** How many there are in all views. */
export function totalOf(counts: Counts): Count {
  const all = VIEWS.map((view) => counts[view])
  return {
    count: all.reduce((sum, { count }) => sum + count, 0),
    isCapped: all.some(({ isCapped }) => isCapped),
  }
}

interface Waiting {
  readonly pending: number
  readonly pending_capped: boolean
}

/** What waits for the servers of these webhooks, and how many such webhooks there are. */
export function waitingOf(rows: readonly Waiting[]): Count & { readonly webhooks: number } {
  const waiting = rows.filter(({ pending }) => pending > 0)
  return {
    count: waiting.reduce((sum, { pending }) => sum + pending, 0),
    isCapped: waiting.some(({ pending_capped }) => pending_capped),
    webhooks: waiting.length,
  }
}
