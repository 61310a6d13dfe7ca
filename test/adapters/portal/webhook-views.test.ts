/** The list of webhooks: what needs attention, in which order, and how many there are. */
import type { Page } from 'hookswitch/client'
import { describe, expect, it } from 'vitest'
import { type AttentionList, loadAttention } from '../../../adapters/portal/app/api/attention.js'
import type { HealthRow } from '../../../adapters/portal/app/text/health-row.js'
import { troubleFirst, unique } from '../../../adapters/portal/app/text/trouble-first.js'
import {
  countsOf,
  shownState,
  totalOf,
  viewOf,
  waitingOf,
} from '../../../adapters/portal/app/text/webhook-views.js'

const row = (name: string) => {
  const [state = '', reason] = name.split('/')
  return { id: name, state, ...(reason !== undefined && { disable_reason: reason }) }
}

describe('the order of webhooks', () => {
  it('puts failing ones first, then paused ones, then those that the service has switched off', () => {
    const states = ['ok', 'paused', 'disabled/gone', 'failing', 'disabled', 'idle', 'failing', 'paused']
    expect(troubleFirst(states.map(row)).map(({ id }) => id)).toEqual([
      'failing',
      'failing',
      'paused',
      'paused',
      'disabled/gone',
      'ok',
      'disabled',
      'idle',
    ])
  })

  it('puts those that reject what they are sent among the failing ones: they fail, though they are sent one event at a time', () => {
    const paused = (kind?: string) => ({ id: kind ?? '', state: 'paused', ...(kind && { pause: { kind } }) })
    const rows = [paused(), paused('unavailable'), paused('rejected'), { id: 'f', state: 'failing' }]
    expect(rows.map(shownState)).toEqual(['paused', 'paused', 'failing', 'failing'])
    expect(troubleFirst(rows).map(({ id }) => id)).toEqual(['rejected', 'f', '', 'unavailable'])
  })

  it('keeps the order of equal ones', () => {
    const rows = ['b', 'a', 'c'].map((id) => ({ id, state: 'failing' }))
    expect(troubleFirst(rows).map(({ id }) => id)).toEqual(['b', 'a', 'c'])
  })

  it('has each webhook once, where it comes first', () => {
    const items = ['b1', 'a1', 'b2', 'c1', 'a2']
    expect(unique(items, ([id]) => id!)).toEqual(['b1', 'a1', 'c1'])
  })
})

describe('the views of the list', () => {
  it('call for attention where somebody must act, not where somebody has switched it off', () => {
    const states = ['failing', 'paused', 'disabled/gone', 'disabled', 'ok', 'idle']
    expect(states.map(row).map(viewOf)).toEqual(['attention', 'attention', 'attention', 'off', 'ok', 'idle'])
    const counts = countsOf(states.map(row))
    expect(counts.attention).toEqual({ count: 3, isCapped: false })
    expect(totalOf(counts)).toEqual({ count: 6, isCapped: false })
    expect(totalOf({ ...counts, ok: { count: 200, isCapped: true } })).toEqual({ count: 205, isCapped: true })
  })

  it('sum what waits, with a sign that it may be more', () => {
    const waiting = (pending: number, pending_capped = false) => ({ pending, pending_capped })
    expect(waitingOf([waiting(3), waiting(0), waiting(4)])).toEqual({
      count: 7,
      isCapped: false,
      webhooks: 2,
    })
    expect(waitingOf([waiting(1_000, true), waiting(1)])).toEqual({
      count: 1_001,
      isCapped: true,
      webhooks: 2,
    })
  })
})

describe('what needs attention', () => {
  const pages: Readonly<Record<string, Page<HealthRow>>> = Object.fromEntries(
    Object.entries({
      failing: [['f1'], 'k1'],
      'failing/k1': [['f2'], 'k2'],
      'failing/k2': [['f3'], undefined],
      paused: [['p1'], undefined],
      disabled: [['d1'], 'k1'],
      'disabled/k1': [[], undefined],
    } as const).map(([name, [ids, nextStartKey]]) => [
      name,
      {
        items: ids.map((id) => ({ id }) as HealthRow),
        ...(nextStartKey !== undefined && { nextStartKey }),
      },
    ]),
  )

  it('is read from three lists: their first pages together, then one further page at a time', async () => {
    const requested: string[] = []
    const load = async ({ state, isByService }: AttentionList, key: string | undefined) => {
      const name = [state, key].filter(Boolean).join('/')
      expect(isByService ?? false).toBe(state === 'disabled')
      requested.push(name)
      return pages[name]!
    }
    const found: string[][] = []
    let startKey: string | undefined
    do {
      const page: Page<HealthRow> = await loadAttention(load, startKey)
      found.push(page.items.map(({ id }) => id))
      startKey = page.nextStartKey
    } while (startKey !== undefined)
    expect(found).toEqual([['f1', 'p1', 'd1'], ['f2'], ['f3'], []])
    expect(requested).toEqual(['failing', 'paused', 'disabled', 'failing/k1', 'failing/k2', 'disabled/k1'])
  })
})
