/** What is failing and since when comes first, however many other webhooks an account has. */
import { describe, expect, vi } from 'vitest'
import { CHROMIUM } from './browser.js'
import { signedInTest } from './page-test.js'
import { startWorld, type World } from './world.js'

/** Idle webhooks, more than a page of the list, whose names come before those of the others. */
const IDLE = 250

/** By how many pixels the state of the second row, or a part of it, is wider than its box. */
const CUT_OFF = `(() => {
  const cell = document.querySelector('tr[data-index="1"] .how')
  const boxes = [cell, ...cell.querySelectorAll('span')]
  const isBlock = (box) => getComputedStyle(box).display !== 'inline'
  return Math.max(...boxes.filter(isBlock).map((box) => box.scrollWidth - box.clientWidth))
})()`
const SCROLL_TO_END = 'scrollTo(0, document.documentElement.scrollHeight)'

const it = signedInTest.extend<{ readonly world: World }>({
  world: [
    // biome-ignore lint/correctness/noEmptyPattern: fixtures are read from the pattern
    async ({}, use) => {
      const world = await startWorld()
      const { uri } = await world.hs.webhooks.read('acme', world.badId)
      const settings = { uri, hook: 'channel_create', retries: 1, ordering: 'none' } as const
      const zulu = await world.hs.webhooks.create('acme', { ...settings, name: 'Zulu' })
      for (let index = 100; index < 100 + IDLE; index += 1)
        await world.hs.webhooks.create('acme', { name: `A ${index}`, uri, hook: 'channel_bridge' })
      await world.pauseBad()
      const stateOf = async (id: string) => (await world.hs.webhooks.read('acme', id)).health.state
      const states = async () => [await stateOf(world.badId), await stateOf(zulu.id)]
      await vi.waitFor(async () => expect(await states()).toEqual(['paused', 'failing']), { timeout: 20_000 })
      await use(world)
      await world.close()
    },
    { scope: 'file' },
  ],
})

describe.skipIf(CHROMIUM === undefined)('an account with more than a page of webhooks', () => {
  it('shows failing ones first, also those that reject what they are sent one at a time, each since when, and counts them without loading all', async ({
    page,
    open,
  }) => {
    await open('webhooks')
    const rows = page.locator('tbody tr[data-index]')
    const row = (index: number) => page.locator(`tr[data-index="${index}"]`)
    await rows.first().waitFor()
    expect(await row(0).innerText()).toMatch(/Zulu[\s\S]*Failing[\s\S]*Answers 500, fails since/)
    expect(await row(1).innerText()).toMatch(
      /CRM[\s\S]*Failing[\s\S]*Answers 500, fails since[\s\S]*Next try /,
    )
    expect(await row(2).innerText()).toContain('A 100')
    await page.getByText(/^2 need attention\./).waitFor()
    const states = page.getByRole('group', { name: 'State' })
    await states.getByRole('button', { name: 'Need attention 2', exact: true }).waitFor()
    await states.getByRole('button', { name: 'No events yet 200+', exact: true }).waitFor()
    await row(1).getByRole('button', { name: 'Test now' }).waitFor()
    // The texts are not cut off.
    expect(await page.evaluate<number>(CUT_OFF)).toBeLessThanOrEqual(1)

    // To the end, without a row that comes twice.
    await expect
      .poll(async () => {
        await page.evaluate(SCROLL_TO_END)
        return rows.last().innerText()
      })
      .toContain('Dashboard')
    expect(await page.getByRole('table').getAttribute('aria-rowcount')).toBe(String(IDLE + 3 + 1))
    await page.getByText(new RegExp(`^2 of ${IDLE + 3} need attention\\.`)).waitFor()
  })

  it('shows those that need attention alone, page by page, and tells the same of one webhook', async ({
    page,
    open,
    row,
  }) => {
    await open('webhooks?state=attention')
    await row('Zulu').waitFor()
    expect(await page.locator('tbody tr[data-index]').count()).toBe(2)
    await row('CRM').getByRole('link').click()
    await page
      .getByText(/since \d\d:\d\d/)
      .first()
      .waitFor()
  })
})
