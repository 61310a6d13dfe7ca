// @ts-check
/** Runs Prometheus with the rules and the scrape configuration of `deploy/prometheus`, at their speed or a faster one. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse, stringify } from 'yaml'
import { freePort, sleep } from './parts.js'

/** @typedef {{ alert: string, expr: string, for?: string, labels: { severity: string } }} Rule */

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000 }
const deployed = (/** @type {string} */ name) =>
  readFile(fileURLToPath(new URL(`../../deploy/prometheus/${name}`, import.meta.url)), 'utf8')

/** Whether this machine has Prometheus. */
export const hasPrometheus = () => spawnSync('prometheus', ['--version']).status === 0

/** @param {string} text such as `30s` */
function durationMs(text) {
  const [, count, unit] = /^(\d+)([smh])$/.exec(text) ?? []
  if (unit === undefined) throw new Error(`not a duration: ${text}`)
  return Number(count) * UNITS_MS[/** @type {keyof typeof UNITS_MS} */ (unit)]
}

/** Divides the durations of a text, such as the window of `rate(x[1m])`. @param {string} text @param {number} speed */
const faster = (text, speed) =>
  text.replace(/\b\d+[smh]\b/g, (found) => `${Math.ceil(durationMs(found) / speed)}ms`)

/** The rules as deployed. @returns {Promise<readonly Rule[]>} */
export async function readRules() {
  return parse(await deployed('rules.yaml')).groups[0].rules
}

/** The longest window of a rule, ms; 0: it has none. @param {Rule} rule */
export const windowMs = ({ expr }) =>
  Math.max(0, ...[...expr.matchAll(/\[(\w+)\]/g)].map(([, window]) => durationMs(String(window))))

/**
 * Starts Prometheus. Only the targets differ from what is deployed, and with a `speed` above 1 every interval, `for` and
 * window is divided by it.
 *
 * @param {string} folder for its configuration and data
 * @param {number} speed
 */
export async function startPrometheus(folder, speed) {
  const config = parse(faster(await deployed('prometheus.yaml'), speed))
  const rules = await deployed('rules.yaml')
  const targets = join(folder, 'targets.json')
  const [job] = config.scrape_configs
  delete job.static_configs
  job.file_sd_configs = [{ files: [targets], refresh_interval: '1s' }]
  const setTargets = (/** @type {readonly string[]} */ list) =>
    writeFile(`${targets}.new`, JSON.stringify(list.length > 0 ? [{ targets: list }] : [])).then(() =>
      // Prometheus may read the file at any moment.
      rename(`${targets}.new`, targets),
    )
  await setTargets([])
  await writeFile(join(folder, 'rules.yaml'), speed === 1 ? rules : faster(rules, speed))
  await writeFile(join(folder, 'prometheus.yaml'), stringify(config))
  const port = await freePort()
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
  const exited = once(child, 'exit')
  const url = `http://127.0.0.1:${port}`
  for (;;) {
    if (child.exitCode !== null) throw new Error(`prometheus ended with ${child.exitCode}`)
    const response = await fetch(`${url}/-/ready`).catch(() => undefined)
    if (response?.ok) break
    await sleep(50)
  }
  /** @param {string} expr @returns {Promise<readonly { metric: Record<string, string>, value: [number, string] }[]>} */
  async function query(expr) {
    const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expr)}`)
    return /** @type {any} */ (await response.json()).data.result
  }
  return {
    setTargets,
    query,
    /** Names of the alerts that fire. */
    async firing() {
      const found = await query('ALERTS{alertstate="firing"}')
      return new Set(found.map(({ metric }) => String(metric.alertname)))
    },
    async end() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
