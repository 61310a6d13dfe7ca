// @ts-check
/**
 * The configuration of an Asterisk for the live tests. It is that of `docs/switches/asterisk.md`, word by word, with
 * addresses, passwords, phones and accounts filled in, and what the page leaves to the reader.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * @typedef {object} Ports
 * @property {number} sip
 * @property {number} ami
 * @property {number} http
 * @property {number} eventSocket of FreeSWITCH
 * @property {number} rtp the first of 2,000
 */
/** @typedef {{ number: string, port: number, account?: string }} PhoneEntry */
/**
 * @typedef {object} SwitchConfig
 * @property {string} address where the switch listens
 * @property {string} phonesAddress where the phones are
 * @property {Ports} ports
 * @property {string} secret of its interface for events
 * @property {readonly PhoneEntry[]} phones
 * @property {{ port: number, calls: string }} trunk with the phone that its calls ring
 * @property {readonly string[]} dialplan extensions of the scenarios, as the switch has them
 * @property {Readonly<Record<string, readonly string[]>>} asteriskConf more lines by file
 * @property {readonly import('./scenario.js').Queue[]} queues
 * @property {readonly string[]} mailboxes
 */

const DOCUMENT = new URL('../../docs/switches/asterisk.md', import.meta.url)

/** What each file has and no other. */
const MARKS = {
  'manager.conf': /^read\s*=/m,
  'ari.conf': /^read_only\s*=/m,
  'pjsip.conf': /^set_var\s*=/m,
  'extensions.conf': /^exten\s*=>/m,
}

/**
 * The `ini` blocks of a page by the file that they are for.
 *
 * @param {string} markdown
 * @returns {Map<string, string>}
 */
export function configurationBlocks(markdown) {
  const blocks = [...markdown.matchAll(/^```ini\n(.*?)^```$/gms)].map(([, block]) => String(block))
  const found = new Map()
  for (const [file, mark] of Object.entries(MARKS)) {
    const block = blocks.find((text) => mark.test(text))
    if (block !== undefined) found.set(file, block)
  }
  return found
}

/** @param {string} name */
function documented(name) {
  const block = configurationBlocks(readFileSync(DOCUMENT, 'utf8')).get(name)
  if (block === undefined) throw new Error(`docs/switches/asterisk.md has no block for ${name}`)
  return block
}

/**
 * All files by name. Without `asterisk.conf`, which depends on where Asterisk is installed.
 *
 * @param {SwitchConfig} config
 * @returns {Record<string, string>}
 */
export function asteriskFiles(config) {
  const { address, ports, secret, asteriskConf } = config
  const withSecret = (/** @type {string} */ name, /** @type {readonly string[]} */ general) =>
    documented(name)
      .replaceAll('…', secret)
      .replace('[general]\n', `[general]\n${general.map((line) => `${line}\n`).join('')}`)
  /** @type {Record<string, string>} */
  const files = {
    'manager.conf': withSecret('manager.conf', [`bindaddr = ${address}`, `port = ${ports.ami}`]).replace(
      /^read = .*/m,
      '$&,dtmf',
    ),
    'ari.conf': withSecret('ari.conf', []),
    'http.conf': `[general]\nenabled = yes\nbindaddr = ${address}\nbindport = ${ports.http}\n`,
    'rtp.conf': `[general]\nrtpstart = ${ports.rtp}\nrtpend = ${ports.rtp + 1_999}\n`,
    'logger.conf': '[general]\n[logfiles]\nconsole => warning,error\n',
    'modules.conf': `[modules]\nautoload = yes\n${UNUSED.map((name) => `noload = ${name}.so\n`).join('')}`,
    'pjsip.conf': pjsip(config),
    'extensions.conf': extensions(config),
    'cdr.conf': '[general]\nenable = yes\n[csv]\nusegmtime = yes\nloguniqueid = yes\n',
    'queues.conf': queues(config),
    'voicemail.conf': voicemail(config),
    'res_parking.conf': '[general]\n',
    'confbridge.conf': '[general]\n',
    'musiconhold.conf': '[default]\nmode = files\ndirectory = moh\n',
  }
  for (const [name, lines] of Object.entries(asteriskConf)) files[name] += `${lines.join('\n')}\n`
  return files
}

/** @param {SwitchConfig} config */
function queues({ queues: all }) {
  const sections = all.map(({ name, agents, ringSeconds, keys }) => [
    ...[`[${name}]`, 'strategy = linear', `timeout = ${ringSeconds}`, 'retry = 1', 'timeoutrestart = yes'],
    ...(keys === undefined ? [] : [`context = ${keys}`]),
    ...agents.map((agent) => `member => PJSIP/${agent}`),
  ])
  return `${['[general]', 'persistentmembers = no', ...sections.flat()].join('\n')}\n`
}

/** A message ends after two seconds. @param {SwitchConfig} config */
function voicemail({ mailboxes }) {
  const boxes = mailboxes.map((mailbox) => `${mailbox} => 1234,Phone ${mailbox}`)
  return `${['[general]', 'format = wav', 'maxsecs = 2', '[default]', ...boxes].join('\n')}\n`
}

/** Modules that open ports or devices of their own, or do what another one does. */
const UNUSED = [
  ...['chan_iax2', 'chan_sip', 'chan_mgcp', 'chan_skinny', 'chan_unistim', 'chan_ooh323', 'chan_dahdi'],
  ...['chan_mobile', 'chan_motif', 'chan_console', 'pbx_dundi', 'pbx_lua', 'pbx_ael', 'res_snmp'],
  ...['app_voicemail_imap', 'app_voicemail_odbc'],
]

/** @param {SwitchConfig} config */
function pjsip({ address, phonesAddress, ports, phones, trunk }) {
  const lines = [
    ...['[global]', 'type = global', 'endpoint_identifier_order = username,header,ip,anonymous'],
    ...['[udp]', 'type = transport', 'protocol = udp', `bind = ${address}:${ports.sip}`],
    ...['[phone](!)', 'type = endpoint', 'transport = udp', 'context = phones', 'disallow = all'],
    ...['allow = ulaw', 'direct_media = no'],
    ...['[trunk](phone)', 'context = from-trunk', 'aors = trunk', 'trust_id_inbound = yes'],
    ...['[trunk]', 'type = aor', `contact = sip:${phonesAddress}:${trunk.port}`],
    ...['[trunk]', 'type = identify', 'endpoint = trunk', 'match_header = X-Carrier: yes'],
  ]
  for (const { number, port, account } of phones) {
    const endpoint = account === undefined ? '[1001]\ntype = endpoint\n' : documented('pjsip.conf')
    lines.push(endpoint.replace('[1001]', `[${number}](phone)`).replace('acme', `${account}`).trim())
    lines.push(`aors = ${number}`)
    lines.push(`[${number}]`, 'type = aor', `contact = sip:${contactUser(number)}@${phonesAddress}:${port}`)
  }
  return `${lines.join('\n')}\n`
}

/** Phones register random users, which nobody dials. @param {string} number */
const contactUser = (number) => `x${[...number].reverse().join('')}q`

/**
 * The documented contexts, `phones` first: there the scenarios' own extensions precede the patterns.
 *
 * @param {SwitchConfig} config
 */
function extensions({ dialplan, trunk }) {
  const rest = readFileSync(new URL('asterisk-dialplan.conf', import.meta.url), 'utf8')
  const [phones, ...others] = documented('extensions.conf').split(/\n(?=\[)/)
  const called = others.join('\n').replace('1001', trunk.calls)
  return [phones, ...dialplan, rest, called].join('\n')
}

/**
 * Writes all files into a folder.
 *
 * @param {string} folder
 * @param {Record<string, string>} files
 */
export function writeFiles(folder, files) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}
