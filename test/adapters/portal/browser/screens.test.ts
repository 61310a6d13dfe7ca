import { describe, expect } from 'vitest'
import { CHROMIUM, expectFit, FAST_POLLING } from './browser.js'
import { signedInTest as it } from './page-test.js'

describe.skipIf(CHROMIUM === undefined)('the screens', () => {
  it('show no hidden character of a name, wherever it stands', async ({ world, page, open, row }) => {
    const name = 'Invoice\u202Egnp.exe\u2066\u200b'
    const shown = 'Invoice\\u{202E}gnp.exe\\u{2066}\\u{200B}'
    const { id } = await world.hs.webhooks.create('acme', {
      name,
      uri: 'http://127.0.0.1:9/',
      hook: 'all',
      enabled: false,
      group: name,
    })
    await world.hs.accounts.create({ id: 'hostile', name, realm: 'hostile.example', parentId: 'acme' })
    const wholeText = () =>
      page.evaluate<string>(
        `[document.title, document.body.innerText, ...[...document.querySelectorAll('*')].flatMap((one) =>
          [...one.attributes].filter(({ name }) => name !== 'value').map(({ value }) => value)),
          ...[...document.querySelectorAll('option')].map((one) => one.textContent)].join('\\n')`,
      )
    const expectShown = async () => {
      const text = await wholeText()
      expect(text).toContain(shown)
      expect(text).not.toMatch(/[\u202e\u2066\u200b]/)
    }
    await open('webhooks')
    await row(shown).waitFor()
    // The account is in the list of accounts of the head.
    await page.getByRole('button', { name: 'Account: Acme' }).click()
    await page.locator('.popup').getByRole('link', { name: shown }).waitFor()
    await expectShown()
    await open(`webhooks/${id}`)
    await page.getByRole('heading', { name: shown }).waitFor()
    await expect.poll(() => page.title()).toContain(shown)
    await expectShown()
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'Delete…', exact: true }).click()
    await page.getByRole('dialog').getByText(shown).waitFor()
    await expectShown()
    await world.hs.webhooks.remove('acme', id)
    await world.hs.accounts.remove('hostile')
  })

  it('move by keyboard: j and k between rows, Enter opens one, ? helps, and all can be switched off', async ({
    page,
    open,
    row,
  }) => {
    await open('webhooks')
    await row('Dashboard').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await expect
      .poll(() => page.evaluate<string>('document.activeElement?.textContent'))
      .toContain('Dashboard')
    await page.keyboard.press('k')
    await expect.poll(() => page.evaluate<string>('document.activeElement?.textContent')).toContain('CRM')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'CRM <b>popup</b>' }).waitFor()
    // Navigation moves the focus to the heading.
    expect(await page.evaluate<string>('document.activeElement?.tagName')).toBe('H1')
    await page.keyboard.press('?')
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await help.getByLabel('Shortcuts are on').uncheck()
    await page.keyboard.press('Escape')
    await help.waitFor({ state: 'detached' })
    await page.keyboard.press('/')
    expect(await page.evaluate<string>('document.activeElement?.id')).not.toBe('search')
  })

  it('keep old data with its age while the service cannot be reached', async ({
    page,
    context,
    reports,
    open,
    row,
  }) => {
    await page.addInitScript(FAST_POLLING)
    await open('webhooks')
    await row('CRM').waitFor()
    await context.setOffline(true)
    await page.getByText('The service cannot be reached.').first().waitFor()
    await page.getByText('Shown is the state').first().waitFor()
    expect(await row('CRM').count()).toBe(1)
    await page.goto('about:blank')
    reports.problems.length = 0
  })

  it('have no violation that axe finds, in light, in dark and at 320 pixels', async ({
    world,
    page,
    open,
  }) => {
    const webhook = `webhooks/${world.badId}`
    const screens: readonly (readonly [hash: string, shown: string])[] = [
      ['webhooks', 'tbody a'],
      [`${webhook}/overview`, '.case'],
      [`${webhook}/activity`, '.grid'],
      [`${webhook}/activity?view=requests&status=500`, '.grid'],
      [`${webhook}/settings`, 'main form'],
      [`${webhook}/secret`, 'output'],
      ['webhooks/new', 'main form'],
      ['live', '.rate'],
      ['match', '.grid'],
      [`calls/${encodeURIComponent(world.callId)}`, '.ladder'],
    ]
    const check = async (hash: string, shown: string) => {
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.locator(shown).first().waitFor()
      await page.locator('.bone').first().waitFor({ state: 'detached' })
      await expectFit(page, hash)
    }
    for (const [hash, shown] of screens) {
      await open(hash)
      await check(hash, shown)
    }
    // On a phone an event has its webhooks below it, not beside it.
    for (const [width, columns] of [
      [1_280, 4],
      [320, 2],
    ] as const) {
      await page.setViewportSize({ width, height: 800 })
      const shown = await page.evaluate<string>(
        "getComputedStyle(document.querySelector('li.rung')).gridTemplateColumns",
      )
      expect([width, shown.split(' ').length]).toEqual([width, columns])
    }
    await open(`${webhook}/activity`)
    await page.locator('a.open').first().click()
    await check('delivery', '.duo')
  })
})
