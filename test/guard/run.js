// @ts-check
/**
 * Checks that no connection reaches a blocked address: `npm run guard -- [--cases 50000] [--seed S] [--policy closed]`.
 *
 * Runs itself under `unshare -rn`, where every address is local and has a server. The real sender and resolver get every
 * spelling of an address in every kind of URL, and names whose DNS answers change. Policies with a hole (`--policy open`;
 * an unknown name lists the others) must fail.
 */
import { exitWithMessage, parseWholeNumber, readRunFlags } from '../support/run-flags.js'
import { buildSender } from './build-sender.js'
import { runGuard } from './guard-run.js'
import { canUnshare, isInside, openNetwork, runInside } from './network.js'
import { POLICIES } from './policies.js'

const MAX_SHOWN = 10

const values = readRunFlags({
  cases: { type: 'string', default: '50000' },
  seed: { type: 'string', default: String(Date.now()) },
  policy: { type: 'string', default: 'closed' },
})
const cases = parseWholeNumber('cases', values.cases, 2)
const policy = POLICIES[values.policy]

if (!policy) exitWithMessage(`--policy takes one of: ${Object.keys(POLICIES).join(', ')}`)
else if (isInside()) process.exitCode = await runInNamespace(policy)
else if (!canUnshare())
  exitWithMessage('NOT RUN: this needs `unshare -rn` and `ip`; this machine does not allow them')
else {
  const args = ['--cases', String(cases), '--seed', values.seed, '--policy', values.policy]
  process.exitCode = await runInside(process.argv[1] ?? '', args)
}

async function runInNamespace(/** @type {NonNullable<typeof policy>} */ guard) {
  openNetwork()
  const { createDefaultSender } = await buildSender()
  const began = performance.now()
  const { violations, counts } = await runGuard({
    seed: values.seed,
    cases,
    policy: guard,
    createDefaultSender,
  })
  const seconds = Math.round((performance.now() - began) / 1000)
  for (const sentence of violations.slice(0, MAX_SHOWN)) console.log(`! ${sentence.slice(0, 2_000)}\n`)
  /** @type {(readonly [string, string | number])[]} */
  const rows = [['seed', values.seed], ['policy', values.policy], ...counts, ['seconds', seconds]]
  for (const [name, value] of rows) console.log(`${name.padEnd(56)}${value.toLocaleString('en')}`)
  console.log(
    violations.length === 0
      ? '\nNo blocked address was reached.'
      : `\nThe guard failed: ${violations.length} violations.`,
  )
  return violations.length === 0 ? 0 : 1
}
