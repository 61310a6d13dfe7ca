/** What is failing and since when comes first, however many other webhooks an account has. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { CHROMIUM, launch, logIn, newPage } from './browser.js'
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

describe.skipIf(CHROMIUM === undefined)('an account with more than a page of webhooks', () => {
  let world: World
  let browser: Browser
  let zuluId: string
  beforeAll(async () => {
    world = await startWorld()
    browser = await launch()
    const { uri } = await world.hs.webhooks.read('acme', world.badId)
    const settings = { uri, hook: 'channel_create', retries: 1, ordering: 'none' } as const
    zuluId = (await world.hs.webhooks.create('acme', { ...settings, name: 'Zulu' })).id
    for (let index = 100; index < 100 + IDLE; index += 1)
      await world.hs.webhooks.create('acme', { name: `A ${index}`, uri, hook: 'channel_bridge' })
    await world.pauseBad()
    const stateOf = async (id: string) => (await world.hs.webhooks.read('acme', id)).health.state
    await vi.waitFor(
      async () => expect([await stateOf(world.badId), await stateOf(zuluId)]).toEqual(['paused', 'failing']),
      { timeout: 20_000 },
    )
  })
  afterAll(async () => {
    await browser?.close()
    await world?.close()
  })

  it('shows failing ones first, then paused ones, each since when, and counts them on the chips', async () => {
    const { page, context, reports } = await newPage(browser)
    await logIn(page, world.url, world.apiKey)
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
    expect(reports.problems).toEqual([])
    await context.close()
  })

  it('says where the others are when none is failing, and tells the same of one webhook', async () => {
    const { page, context } = await newPage(browser)
    await logIn(page, world.url, world.apiKey)
    await page.goto(`${world.url}#/acme/webhooks?state=failing&q=CRM`)
    await page.getByRole('link', { name: '1 paused' }).click()
    await page.getByRole('row').filter({ hasText: 'CRM' }).getByRole('link').click()
    await page.getByText(/^for \d/).waitFor()
    await page.getByText(/probes again in/).waitFor()
    await context.close()
  })

  it('opens the list of the operator on the first state that has something', async () => {
    const { page, context } = await newPage(browser)
    await logIn(page, world.url, world.apiKey)
    await page.getByRole('link', { name: 'Operator' }).click()
    await page.getByRole('row').filter({ hasText: 'Zulu' }).waitFor()
    await world.hs.webhooks.remove('acme', zuluId)
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click()
    await page.getByRole('link', { name: 'Operator' }).click()
    await page.getByRole('row').filter({ hasText: 'CRM' }).getByText('paused').waitFor()
    await page.getByRole('button', { name: 'paused 1', pressed: true }).waitFor()
    await context.close()
  })
})
