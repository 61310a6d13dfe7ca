/** Questions before an action, where the focus is after them, and users who may only read. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { CHROMIUM, expectRefusals, logInAsUser } from './browser.js'
import { signedInTest as it } from './page-test.js'
import { PASSWORD } from './world.js'

const MORE = 'More: replay, switch off, delete'

describe.skipIf(CHROMIUM === undefined)('the questions of the page', () => {
  const focused = (page: Page) =>
    page.evaluate<string>(
      'document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent',
    )

  it('give the focus back to what opened them', async ({ world, page, open, button }) => {
    await open(`webhooks/${world.goodId}`)
    for (const close of [() => page.keyboard.press('Escape'), () => button('Cancel').click()]) {
      await button(MORE).click()
      await button('Delete…').click()
      await page.getByRole('dialog', { name: 'Delete Dashboard?' }).waitFor()
      await close()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await expect.poll(() => focused(page)).toBe(MORE)
    }
    await button(MORE).click()
    await button('Replay…').click()
    await page.getByRole('dialog', { name: 'Replay what was not delivered' }).waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => focused(page)).toBe(MORE)
  })

  it('are asked before a webhook is switched off, with what is cancelled, which a replay counts', async ({
    world,
    page,
    open,
    button,
  }) => {
    await world.pauseBad()
    // Behind a pause the events of a further call wait.
    await world.makeCall('third')
    await open(`webhooks/${world.badId}`)
    await button(MORE).click()
    await button('Switch off').click()
    const question = page.getByRole('dialog', { name: 'Switch off CRM <b>popup</b>?' })
    const text = await question.getByText(/\d events wait\./).innerText()
    const waiting = Number(/\d+/.exec(text)![0])
    expect(waiting).toBeGreaterThanOrEqual(3)
    expect((await world.hs.webhooks.read('acme', world.badId)).enabled).toBe(true)
    await question.getByRole('button', { name: 'Switch off' }).click()
    await page.getByText('The webhook is switched off.').waitFor()
    // Nothing is replayed before it is on again.
    await button(MORE).click()
    expect(await button('Replay…').count()).toBe(0)
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Activity' }).click()
    await page.getByRole('row').filter({ hasText: 'Call started' }).first().waitFor()
    expect(await button('Replay not delivered…').count()).toBe(0)
    const first = page.getByRole('row').filter({ hasText: 'Call started' }).last()
    await first.getByRole('link').first().click()
    await page.getByRole('heading', { name: 'Call started' }).waitFor()
    await page.getByRole('link', { name: 'CRM <b>popup</b>, activity' }).waitFor()
    expect(await button('Replay…').count()).toBe(0)
    await open(`webhooks/${world.badId}/activity`)
    await button(MORE).click()
    world.repair()
    await button('Switch on').click()
    await page.getByText('The webhook is switched on.').waitFor()
    await button(MORE).click()
    await button('Replay…').click()
    const dialog = page.getByRole('dialog', { name: 'Replay what was not delivered' })
    const cancelled = dialog
      .locator('label')
      .filter({ hasText: 'Cancelled when the webhook was switched off' })
    await cancelled.getByText(`(${waiting})`).waitFor()
    await dialog.getByLabel('Not delivered').uncheck()
    await cancelled.locator('input').check()
    await dialog.getByRole('button', { name: `Replay ${waiting} events` }).waitFor()
  })

  it('are not asked about changes of a webhook that its user deletes', async ({
    world,
    page,
    open,
    button,
  }) => {
    const { id } = await world.hs.webhooks.create('acme', {
      name: 'Old',
      uri: 'http://127.0.0.1:9/',
      hook: 'all',
    })
    await open(`webhooks/${id}/settings`)
    await page.getByLabel('Name', { exact: true }).fill('Changed')
    await button(MORE).click()
    await button('Delete…').click()
    await page.getByRole('dialog', { name: 'Delete Old?' }).getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  it('are not offered to a user who may only read; a refusal says what is missing', async ({
    world,
    opened,
  }) => {
    const { page, reports } = opened
    const open = (hash: string) => page.goto(`${world.url}#/acme/${hash}`)
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    await page.goto(world.url)
    await logInAsUser(page, 'bob', PASSWORD)
    await page.getByText('Dashboard').waitFor()
    await page.getByRole('link', { name: 'New webhook' }).waitFor({ state: 'detached' })
    await open(`webhooks/${world.goodId}/settings`)
    await page.getByText('Your user may read, not change.').waitFor()
    expect(await button('Save').isDisabled()).toBe(true)
    await open(`webhooks/${world.goodId}`)
    await page.getByRole('heading', { name: 'Over time' }).waitFor()
    for (const name of [MORE, 'Send a test', 'Edit']) expect(await button(name).count(), name).toBe(0)
    const hold = { name: 'Only holds', uri: 'http://127.0.0.1:9/', hook: 'channel_hold' }
    await world.hs.webhooks.create('acme', hold)
    await open('match')
    await page.getByText('It does not listen to this event.').waitFor()
    expect(await page.getByRole('link', { name: /^(Change its settings|Switch it on)$/ }).count()).toBe(0)
    await open(`webhooks/${world.goodId}`)
    expect(reports.problems).toEqual([])
    // As if the page did not know.
    await page.route('**/token_auth', (route) => route.fulfill({ json: { data: {}, status: 'success' } }))
    await page.reload()
    await button('Send a test').click()
    await page.getByRole('status').getByText('Your user may read, not change.').waitFor()
    expectRefusals(reports, 403)
  })
})
