// @ts-check
/**
 * No connection to a blocked address: `npm run guard -- [--cases 50000] [--seed S] [--policy closed]`.
 *
 * Runs itself under `unshare -rn`, where every address is local and somebody listens at each. The real sender, with its
 * own resolver, gets every spelling of an address in every kind of URL, and names whose answers change. Guards with a
 * hole (`--policy open`, and others that are listed when it is unknown) must fail.
 */
import { readRunFlags, refuse, wholeFlag } from '../run-flags.js'
import { compiledSender } from './compiled.js'
import { runGuard } from './course.js'
import { canUnshare, isInside, openNetwork, runInside } from './network.js'
import { POLICIES } from './policies.js'

const MOST_SHOWN = 10

const values = readRunFlags({
  cases: { type: 'string', default: '50000' },
  seed: { type: 'string', default: String(Date.now()) },
  policy: { type: 'string', default: 'closed' },
})
const cases = wholeFlag('cases', values.cases, 2)
const policy = POLICIES[values.policy]

if (!policy) refuse(`--policy takes one of: ${Object.keys(POLICIES).join(', ')}`)
else if (isInside()) process.exitCode = await insideOwnNetwork(policy)
else if (!canUnshare()) refuse('NOT RUN: this needs `unshare -rn` and `ip`; this machine does not allow them')
else {
  const args = ['--cases', String(cases), '--seed', values.seed, '--policy', values.policy]
  process.exitCode = await runInside(process.argv[1] ?? '', args)
}

async function insideOwnNetwork(/** @type {NonNullable<typeof policy>} */ guard) {
  openNetwork()
  const { createDefaultSender } = await compiledSender()
  const began = performance.now()
  const { findings, counts } = await runGuard({
    seed: values.seed,
    cases,
    policy: guard,
    createDefaultSender,
  })
  const seconds = Math.round((performance.now() - began) / 1000)
  for (const sentence of findings.slice(0, MOST_SHOWN)) console.log(`! ${sentence.slice(0, 2_000)}\n`)
  /** @type {(readonly [string, string | number])[]} */
  const rows = [['seed', values.seed], ['policy', values.policy], ...counts, ['seconds', seconds]]
  for (const [name, value] of rows) console.log(`${name.padEnd(56)}${value.toLocaleString('en')}`)
  console.log(
    findings.length === 0
      ? '\nNothing that is blocked was reached.'
      : `\nThe guard let through: ${findings.length} findings.`,
  )
  return findings.length === 0 ? 0 : 1
}
