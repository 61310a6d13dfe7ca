// @ts-check
/**
 * Whatever is sent, through every adapter: `npm run fuzz -- [--requests 200000] [--seed S] [--epoch N] [--doctor NAME]`.
 *
 * `--requests` counts what is sent: each request goes to every face.
 *
 * A finding prints what was wrong, how to send that one request again, and the epoch, which `--epoch` repeats alone with
 * all that went before. A doctored face (`--doctor`, listed when its name is unknown) must be found out.
 */
import { readRunFlags, refuse, wholeFlag } from '../run-flags.js'
import { compiledFaces } from './compiled.js'
import { runEpoch, STEPS } from './course.js'
import { DOCTORS } from './doctors.js'
import { FILL } from './operations.js'

const DOCTORED = 'fastify'
const MOST_FINDINGS = 20
/** From so many requests on every operation must have succeeded. */
const ENOUGH = 20_000

const values = readRunFlags({
  requests: { type: 'string', default: '200000' },
  seed: { type: 'string', default: String(Date.now()) },
  epoch: { type: 'string' },
  doctor: { type: 'string' },
})
const { seed } = values
const requests = wholeFlag('requests', values.requests)
const first = wholeFlag('epoch', values.epoch ?? '0', 0)
const service = values.doctor === undefined ? undefined : DOCTORS[values.doctor]

if (values.doctor !== undefined && !service)
  refuse(`--doctor takes one of: ${Object.keys(DOCTORS).join(', ')}`)

process.on('unhandledRejection', (reason) =>
  refuse(`Nobody caught: ${reason instanceof Error ? reason.stack : reason}`),
)

const {
  faces: { FACES, serverFace },
  raw,
} = await compiledFaces()
const { express4AfterJson: _, ...some } = FACES
const faces = { ...some, server: serverFace }

const began = performance.now()
/** @type {Map<string, number>} */
const totals = new Map()
/** @type {import('./course.js').Finding[]} */
const findings = []
const each = Object.keys(faces).length
let left = values.epoch === undefined ? Math.ceil(requests / each) : STEPS
for (let epoch = first; left > 0 && findings.length < MOST_FINDINGS; epoch += 1) {
  const steps = Math.min(STEPS, left)
  left -= steps
  const doctor = service && { face: DOCTORED, service }
  const seen = await runEpoch({ seed, epoch, steps, faces, raw, ...(doctor && { doctor }) })
  for (const [name, value] of seen.counts) totals.set(name, (totals.get(name) ?? 0) + value)
  findings.push(...seen.findings)
}

const idle = Object.keys(FILL).filter((name) => !totals.has(`succeeded: ${name}`))
if (requests >= ENOUGH && findings.length === 0 && idle.length > 0)
  findings.push({ what: `never succeeded: ${idle.join(', ')}`, epoch: first, replay: 'nothing to send' })
for (const { what, epoch, replay } of findings.slice(0, MOST_FINDINGS))
  console.log(
    `! ${what.slice(0, 3_000)}\n  --seed ${seed} --epoch ${epoch}, or alone: ${replay.slice(0, 3_000)}\n`,
  )

/** @type {(readonly [string, string | number])[]} */
const rows = [
  ['seed', seed],
  ['faces', Object.keys(faces).join(' ')],
  ...[...totals]
    .filter(([name]) => !name.startsWith('succeeded'))
    .sort(([one], [other]) => (one < other ? -1 : 1)),
  ['operations that succeeded', Object.keys(FILL).length - idle.length],
  ['seconds', Math.round((performance.now() - began) / 1000)],
]
for (const [name, value] of rows) console.log(`${name.padEnd(28)}${value.toLocaleString('en')}`)
console.log(
  findings.length === 0
    ? '\nEvery request had an answer, none failed, and the faces agree.'
    : `\n${findings.length} findings: see above.`,
)
// Not by `exitCode`: a request whose body was cut may hold the process for its time limit.
process.exit(findings.length === 0 ? 0 : 1)
