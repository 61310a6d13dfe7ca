/** Questions before an action, where the focus is after them, and users who may only read. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { CHROMIUM, expectRefusals, logIn, logInAsUser } from './browser.js'
import { pageTest as it } from './page-test.js'
import { PASSWORD } from './world.js'

describe.skipIf(CHROMIUM === undefined)('the questions of the page', () => {
  const focused = (page: Page) => page.evaluate<string>('document.activeElement?.textContent')

  it('give the focus back to what opened them, and the menu closes on Escape and on a click elsewhere', async ({
    world,
    page,
    open,
    button,
  }) => {
    await logIn(page, world.url, world.apiKey)
    await open(`webhooks/${world.goodId}/health`)
    for (const close of [() => page.keyboard.press('Escape'), () => button('Cancel').click()]) {
      await button('Delete').click()
      await page.getByRole('dialog').waitFor()
      await close()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await expect.poll(() => focused(page)).toBe('Delete')
    }
    const signOut = button('Sign out')
    await page.getByText('Menu').click()
    await signOut.waitFor()
    await page.keyboard.press('Escape')
    await signOut.waitFor({ state: 'hidden' })
    expect(await focused(page)).toBe('Menu')
    await page.getByText('Menu').click()
    await signOut.waitFor()
    await page.getByRole('heading', { level: 1 }).click()
    await signOut.waitFor({ state: 'hidden' })
    await page.getByText('Menu').click()
    await button('Keyboard shortcuts').click()
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => focused(page)).toBe('Menu')
  })

  it('are asked before a webhook is disabled, with what is cancelled, which a replay counts', async ({
    world,
    page,
    open,
    button,
  }) => {
    await logIn(page, world.url, world.apiKey)
    await world.pauseBad()
    // Behind a pause the events of a further call wait.
    await world.makeCall('third')
    await open(`webhooks/${world.badId}/health`)
    await button('Disable').click()
    const question = page.getByRole('dialog', { name: 'Disable CRM <b>popup</b>?' })
    const text = await question.getByText(/\d deliveries wait\./).innerText()
    const waiting = Number(/\d+/.exec(text)![0])
    expect(waiting).toBeGreaterThanOrEqual(3)
    expect((await world.hs.webhooks.read('acme', world.badId)).enabled).toBe(true)
    await question.getByRole('button', { name: 'Disable' }).click()
    await page.getByText('The webhook is disabled.').waitFor()
    await button('Replay failed…').click()
    const dialog = page.getByRole('dialog', { name: 'Replay' })
    await dialog.getByLabel('Result').selectOption('cancelled')
    await dialog.getByRole('button', { name: 'Count' }).click()
    await dialog.getByText(`${waiting} deliveries would be sent again.`).waitFor()
  })

  it('are not offered to a user who may only read; a refusal says what is missing', async ({
    world,
    page,
    reports,
    open,
    button,
  }) => {
    await page.goto(world.url)
    await logInAsUser(page, 'bob', PASSWORD)
    await page.getByText('Dashboard').waitFor()
    await page.getByRole('link', { name: '+ New' }).waitFor({ state: 'detached' })
    expect(await button('Replay failed…').count()).toBe(0)
    await open(`webhooks/${world.goodId}/settings`)
    await page.getByText('Your user may read, not change.').waitFor()
    expect(await button('Save').isDisabled()).toBe(true)
    expect(await button('Disable').count()).toBe(0)
    expect(reports.problems).toEqual([])
    // As if the page did not know.
    await page.route('**/token_auth', (route) => route.fulfill({ json: { data: {}, status: 'success' } }))
    await page.reload()
    await button('Test').click()
    await page.getByRole('status').getByText('Your user may read, not change.').waitFor()
    expectRefusals(reports, 403)
  })
})
