import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { scriptedDeliveries, storeConformance } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import * as stream from '../../examples/testing/recorded-calls.js'
import * as policy from '../../examples/testing/retry-policy.js'
import * as store from '../../examples/testing/store.js'
import * as handler from '../../examples/testing/webhook-handler.js'
import { DEFECTS } from '../../src/testkit/handler/defects.js'
import * as handlers from '../../src/testkit/handler/index.js'
import * as policies from '../../src/testkit/policy/index.js'
import * as streams from '../../src/testkit/stream/index.js'
import { blocks, isQuoted, links, read } from './pages.js'
import { run } from './project.js'

const FOLDER = fileURLToPath(new URL('../../examples/testing', import.meta.url))
const PAGE = 'docs/embed/testing.md'
/** Where the page leads for the files of the folder. */
const REPOSITORY = 'https://github.com/hookswitch/hookswitch/blob/main/examples/testing'
const RECIPES = [store, policy, handler, stream]

describe('the recipes under vitest', () => {
  for (const recipe of RECIPES) recipe.run({ describe, it, fc, assert })
})

describe('the recipes under node --test', () => {
  it('are the same tests, and all pass', async () => {
    let registered = 0
    const counting = { describe: (_: string, body: () => void) => body(), it: () => (registered += 1) }
    for (const recipe of RECIPES) recipe.run({ ...counting, fc, assert })

    const { code, stdout } = await run(
      process.execPath,
      ['--test', '--test-reporter=tap', 'node-test.js'],
      FOLDER,
    )
    const figure = (name: string) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(stdout)?.[1])
    expect([code, figure('fail'), figure('pass')]).toEqual([0, 0, registered])
    expect(registered).toBeGreaterThan(100)
  })
})

describe('the page of the testkit', () => {
  const quoted = blocks(PAGE, 'js').filter((text) => !text.includes('createHookswitch({'))
  const texts = blocks(PAGE, 'text')
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.js') || name.endsWith('.ndjson'))

  it.each(quoted.map((text) => [text.split('\n')[0], text]))('quotes an example: %s', (_, text) => {
    expect(isQuoted(text!)).toBe(true)
  })

  it('has one program besides, which is run with those of the other pages', () => {
    expect(blocks(PAGE, 'js').length - quoted.length).toBe(1)
  })

  it('has a recipe for each example, and leads to it', () => {
    for (const name of files) expect(links(PAGE)).toContain(`${REPOSITORY}/${name}`)
    expect(quoted.length).toBeGreaterThan(RECIPES.length)
  })

  it('names everything that the recipes are made of, every defect and every guarantee of a policy', () => {
    for (const name of [
      ...Object.keys(handlers),
      ...Object.keys(policies),
      ...Object.keys(streams),
      ...DEFECTS,
    ]) {
      expect(read(PAGE)).toContain(`\`${name}\``)
    }
    const source = read('src/testkit/policy/prove-policy.ts')
    const [declared = ''] = /export interface PolicyGuarantees[\s\S]*?^}/m.exec(source) ?? []
    const guarantees = [...declared.matchAll(/^ {2}readonly (\w+)\?:/gm)].map(([, name]) => name!)
    expect(guarantees.length).toBeGreaterThan(5)
    for (const name of guarantees) expect(read(PAGE)).toMatch(new RegExp(`\`${name}\\b`))
  })

  it('shows the failure that a store gets which lists attempts in the wrong order', async () => {
    const wrong = {
      ...store.harness,
      name: 'my store',
      async open(deps: Parameters<typeof store.harness.open>[0]) {
        const opened = await store.harness.open(deps)
        const attempts: typeof opened.deliveries.attempts = async (query) =>
          [...(await opened.deliveries.attempts(query))].reverse()
        return { ...opened, deliveries: { ...opened.deliveries, attempts } }
      },
    }
    const failed = await failures((runner) => storeConformance(runner, wrong))
    expect([failed.length, /fails\s+fifteen\s+of\s+them/.test(read(PAGE))]).toEqual([15, true])
    expect(texts[0]?.trimEnd()).toBe(failed[0])
  })

  it('shows the problems that a careless handler has', async () => {
    const ids: string[] = []
    const { problems } = await scriptedDeliveries({ seed: 7, calls: 1 }).deliverTo(
      ({ headers }) => {
        ids.push(headers['webhook-id'] ?? '')
        return 200
      },
      { stored: () => ids },
    )
    const shown = texts[1]?.trimEnd().split('\n') ?? []
    const said = problems.map(({ kind, message }) => `${kind}: ${message}`)
    expect(shown.length).toBeGreaterThan(1)
    expect(shown.filter((line) => !said.includes(line))).toEqual([])
  })
})

/** The tests of a suite that fail, as a reporter names them. */
async function failures(
  register: (runner: {
    describe: (name: string, body: () => void) => void
    it: (name: string, body: () => Promise<void>) => void
  }) => void,
): Promise<readonly string[]> {
  const path: string[] = []
  const tests: { name: string; body: () => Promise<void> }[] = []
  register({
    describe(name, body) {
      path.push(name)
      body()
      path.pop()
    },
    it: (name, body) => void tests.push({ name: [...path, name].join(' > '), body }),
  })
  const failed: string[] = []
  for (const { name, body } of tests) {
    await body().catch(() => void failed.push(name))
  }
  return failed
}
