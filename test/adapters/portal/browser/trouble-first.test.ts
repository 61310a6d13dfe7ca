/** What is failing and since when comes first, however many other webhooks an account has. */
import { describe, expect, vi } from 'vitest'
import { CHROMIUM } from './browser.js'
import { signedInTest } from './page-test.js'
import { startWorld, type World } from './world.js'

/** Idle webhooks, more than a page of the list, whose names come before those of the others. */
const IDLE = 120

/** By how many pixels the state of the second row, or a part of it, is wider than its box. */
const CUT_OFF = `(() => {
  const cell = document.querySelectorAll('[data-index="1"] [role="cell"]')[1]
  const boxes = [cell, ...cell.querySelectorAll('span, button')]
  const isBlock = (box) => getComputedStyle(box).display !== 'inline'
  return Math.max(...boxes.filter(isBlock).map((box) => box.scrollWidth - box.clientWidth))
})()`
const SCROLL_TO_END = `(() => {
  const table = document.querySelector('[role="table"]')
  table.scrollTop = table.scrollHeight
})()`

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
  it('shows failing ones first, then paused ones, each since when, and counts them on the chips', async ({
    page,
  }) => {
    const rows = page.locator('[data-index]')
    const row = (index: number) => page.locator(`[data-index="${index}"]`)
    await rows.first().waitFor()
    expect(await row(0).innerText()).toMatch(/Zulu[\s\S]*failing for \d/)
    expect(await row(1).innerText()).toMatch(/CRM[\s\S]*paused for \d[\s\S]*probes again in/)
    expect(await row(2).innerText()).toContain('A 100')
    const chips = page.getByRole('group', { name: 'State' })
    await chips.getByRole('button', { name: 'failing 1', exact: true }).waitFor()
    await chips.getByRole('button', { name: 'paused 1', exact: true }).waitFor()

    // Neither the texts nor the button are cut off.
    const cell = row(1).getByRole('cell').nth(1)
    await cell.getByRole('button', { name: 'Resume now' }).waitFor()
    const cut = await page.evaluate<number>(CUT_OFF)
    expect(cut).toBeLessThanOrEqual(1)

    // To the end, without a row that comes twice.
    await expect
      .poll(async () => {
        await page.evaluate(SCROLL_TO_END)
        return rows.last().innerText()
      })
      .toContain('Dashboard')
    expect(await page.getByRole('table').getAttribute('aria-rowcount')).toBe(String(IDLE + 3 + 1))
  })

  it('says where the others are when none is failing, and tells the same of one webhook', async ({
    page,
    open,
    row,
  }) => {
    await open('webhooks?state=failing&q=CRM')
    await page.getByRole('link', { name: '1 paused' }).click()
    await row('CRM').getByRole('link').click()
    await page.getByText(/^for \d/).waitFor()
    await page.getByText(/probes again in/).waitFor()
  })

  it('opens the list of the operator on the first state that has something', async ({ world, page, row }) => {
    await page.getByRole('link', { name: 'Operator' }).click()
    await row('Zulu').waitFor()
    const zulu = (await world.hs.webhooks.list('acme')).find(({ name }) => name === 'Zulu')!
    await world.hs.webhooks.remove('acme', zulu.id)
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click()
    await page.getByRole('link', { name: 'Operator' }).click()
    await row('CRM').getByText('paused').waitFor()
    await page.getByRole('button', { name: 'paused 1', pressed: true }).waitFor()
  })
})
