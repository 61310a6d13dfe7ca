import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { scriptedDeliveries, storeConformance } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import * as stream from '../../examples/testing/a-recorded-stream.js'
import * as policy from '../../examples/testing/a-retry-policy.js'
import * as store from '../../examples/testing/a-store.js'
import * as handler from '../../examples/testing/a-webhook-handler.js'
import { FLAWS } from '../../src/testkit/handler/flaws.js'
import * as handlers from '../../src/testkit/handler/index.js'
import * as policies from '../../src/testkit/policy/index.js'
import * as streams from '../../src/testkit/stream/index.js'

const FOLDER = fileURLToPath(new URL('../../examples/testing', import.meta.url))
const PAGE = readFileSync(new URL('../../src/testkit/README.md', import.meta.url), 'utf8')
const RECIPES = [store, policy, handler, stream]

describe('the recipes under vitest', () => {
  for (const { run } of RECIPES) run({ describe, it, fc, assert })
})

describe('the recipes under node --test', () => {
  it('are the same tests, and all pass', async () => {
    let registered = 0
    const counting = { describe: (_: string, body: () => void) => body(), it: () => (registered += 1) }
    for (const { run } of RECIPES) run({ ...counting, fc, assert })

    const {
      VITEST: _,
      NODE_OPTIONS: __,
      NODE_TEST_CONTEXT: ___,
      HOOKSWITCH_SECRET: ____,
      ...env
    } = process.env
    const { code, stdout } = await new Promise<{ code: unknown; stdout: string }>((resolve) => {
      const argv = ['--test', '--test-reporter=tap', 'node-test.js']
      const options = { cwd: FOLDER, env, timeout: 60_000, maxBuffer: 16_777_216 }
      execFile(process.execPath, argv, options, (error, stdout) =>
        resolve({ code: error ? (error.code ?? error.signal) : 0, stdout }),
      )
    })
    const figure = (name: string) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(stdout)?.[1])
    expect([code, figure('fail'), figure('pass')]).toEqual([0, 0, registered])
    expect(registered).toBeGreaterThan(100)
  })
})

describe('the page of the testkit', () => {
  const blocks = [...PAGE.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, tag, text]) => ({
    tag,
    text: text!,
  }))
  const sources = new Map(
    readdirSync(FOLDER)
      .filter((name) => name.endsWith('.js') || name.endsWith('.ndjson'))
      .map((name) => [name, readFileSync(`${FOLDER}/${name}`, 'utf8').split('\n')] as const),
  )

  it.each(blocks.filter(({ tag }) => tag === 'js').map(({ text }) => [text.split('\n')[0], text]))(
    'quotes an example: %s',
    (_, text) => {
      expect([...sources].filter(([, lines]) => holds(lines, text!.trimEnd().split('\n')))).toHaveLength(1)
    },
  )

  it('has a recipe for each example, and leads to it', () => {
    for (const name of sources.keys()) expect(PAGE).toContain(`../../examples/testing/${name}`)
    expect(blocks.filter(({ tag }) => tag === 'js').length).toBeGreaterThan(RECIPES.length)
  })

  it('names everything that the recipes are made of, every flaw and every promise of a policy', () => {
    for (const name of [
      ...Object.keys(handlers),
      ...Object.keys(policies),
      ...Object.keys(streams),
      ...FLAWS,
    ]) {
      expect(PAGE).toContain(`\`${name}\``)
    }
    const source = readFileSync(new URL('../../src/testkit/policy/prove-policy.ts', import.meta.url), 'utf8')
    const [declared = ''] = /export interface PolicyPromises[\s\S]*?^}/m.exec(source) ?? []
    const promises = [...declared.matchAll(/^ {2}readonly (\w+)\?:/gm)].map(([, name]) => name!)
    expect(promises.length).toBeGreaterThan(5)
    for (const name of promises) expect(PAGE).toMatch(new RegExp(`\`${name}\\b`))
  })

  it('shows the failure that a store gets which lists attempts in the wrong order', async () => {
    const wrong = {
      ...store.harness,
      name: 'my store',
      async open(doors: Parameters<typeof store.harness.open>[0]) {
        const opened = await store.harness.open(doors)
        const attempts: typeof opened.deliveries.attempts = async (query) =>
          [...(await opened.deliveries.attempts(query))].reverse()
        return { ...opened, deliveries: { ...opened.deliveries, attempts } }
      },
    }
    const failed = await failures((runner) => storeConformance(runner, wrong))
    expect([failed.length, /fails\s+nine\s+of\s+them/.test(PAGE)]).toEqual([9, true])
    expect(blocks.find(({ tag }) => tag === 'text')?.text.trimEnd()).toBe(failed[0])
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
    const shown =
      blocks
        .filter(({ tag }) => tag === 'text')[1]
        ?.text.trimEnd()
        .split('\n') ?? []
    const said = problems.map(({ kind, message }) => `${kind}: ${message}`)
    expect(shown.length).toBeGreaterThan(1)
    expect(shown.filter((line) => !said.includes(line))).toEqual([])
  })
})

/** Whether these lines stand in a file one after the other, wherever they are indented to. */
function holds(lines: readonly string[], wanted: readonly string[]): boolean {
  return lines.some((_, start) => {
    const part = lines.slice(start, start + wanted.length)
    const indents = part.filter((line) => line !== '').map((line) => line.length - line.trimStart().length)
    const depth = Math.min(...indents)
    return part.length === wanted.length && part.every((line, index) => line.slice(depth) === wanted[index])
  })
}

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
