import { errorCode } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import { chooseSwitches, type SwitchFlags } from '../../../adapters/cli/switch-options.js'

const NONE: SwitchFlags = { freeswitch: [], asteriskAmi: [], asteriskAri: [], kamailio: [] }
const ENV = { HOOKSWITCH_AMI_SECRET: 's3cret', HOOKSWITCH_ARI_PASSWORD: 'p4ss' }

function errorOf(flags: Partial<SwitchFlags>, env: Record<string, string> = ENV): Error {
  try {
    chooseSwitches({ ...NONE, ...flags }, env)
  } catch (thrown) {
    expect(errorCode(thrown)).toBe('InvalidOption')
    return thrown as Error
  }
  throw new Error('accepted')
}

describe('chooseSwitches', () => {
  it('returns undefined without a switch', () => {
    expect(chooseSwitches(NONE, ENV)).toBeUndefined()
  })

  it('fills in default ports, and passwords from the environment', () => {
    const flags: SwitchFlags = {
      freeswitch: ['pbx1', '10.1.2.3:9021', '[::1]:8022'],
      asteriskAmi: ['hook@pbx2'],
      asteriskAri: ['http://me@pbx3:8088/ari/'],
      kamailio: [],
      accountFrom: 'variable:ACCOUNT_ID',
    }
    expect(chooseSwitches(flags, { ...ENV, HOOKSWITCH_FREESWITCH_PASSWORD: 'fs' })).toEqual({
      accountFrom: { kind: 'variable', name: 'ACCOUNT_ID' },
      switches: [
        { kind: 'freeswitch', host: 'pbx1', port: 8021, password: 'fs' },
        { kind: 'freeswitch', host: '10.1.2.3', port: 9021, password: 'fs' },
        { kind: 'freeswitch', host: '::1', port: 8022, password: 'fs' },
        { kind: 'asterisk-ami', username: 'hook', secret: 's3cret', host: 'pbx2', port: 5038 },
        { kind: 'asterisk-ari', url: 'http://pbx3:8088/ari', username: 'me', password: 'p4ss' },
      ],
    })
  })

  it('reads the account from the realm when only Kamailio is given', () => {
    expect(chooseSwitches({ ...NONE, kamailio: ['proxy'] }, {})).toEqual({
      accountFrom: { kind: 'realm' },
      switches: [{ kind: 'kamailio', host: 'proxy', port: 8448 }],
    })
  })

  it.each([
    [{ freeswitch: ['pbx'] }, /^--account-from: is required/],
    [{ accountFrom: 'realm' }, /^--account-from: needs a switch, and none is given/],
    [{ freeswitch: ['pbx'], accountFrom: 'variable' }, /^--account-from: needs a name: variable:NAME/],
    [{ freeswitch: ['pbx'], accountFrom: 'variable:a b' }, /^--account-from: needs a name/],
    [{ freeswitch: ['pbx'], accountFrom: 'realm:x' }, /^--account-from: realm takes no name/],
    [{ freeswitch: ['pbx'], accountFrom: 'color' }, /^--account-from: must be variable:NAME, .* not 'color'/],
    [{ asteriskAri: ['http://u@pbx'], accountFrom: 'realm' }, /cannot be realm with asterisk-ari/],
    [
      { kamailio: ['p'], accountFrom: 'variable:a' },
      /cannot be variable with kamailio, which provides realm/,
    ],
    [{ asteriskAmi: ['u@pbx'], accountFrom: 'sip-header:X-A' }, /cannot be sip-header with asterisk-ami/],
    [{ freeswitch: ['pbx:0'], accountFrom: 'realm' }, /^--freeswitch: must be HOST or HOST:PORT/],
    [{ freeswitch: ['pbx:99999'], accountFrom: 'realm' }, /^--freeswitch: must be/],
    [{ freeswitch: ['a b'], accountFrom: 'realm' }, /^--freeswitch: must be/],
    [{ freeswitch: [''], accountFrom: 'realm' }, /^--freeswitch: must be/],
    [{ asteriskAmi: ['pbx'], accountFrom: 'context' }, /^--asterisk-ami: must be USER@HOST:PORT/],
    [{ asteriskAmi: ['u:pw@pbx'], accountFrom: 'context' }, /^--asterisk-ami: must be USER@HOST:PORT/],
    [{ asteriskAmi: ['u@127.0.0.1:x'], accountFrom: 'context' }, /^--asterisk-ami: must be .*USER@HOST:PORT/],
    [{ asteriskAmi: ['u\r\nx@pbx'], accountFrom: 'context' }, /^--asterisk-ami: must be USER@HOST:PORT/],
    [{ asteriskAri: ['http://%zz@pbx/ari'], accountFrom: 'context' }, /^--asterisk-ari: has an invalid user/],
    [
      { asteriskAri: ['http://a%0d%0ab@pbx'], accountFrom: 'context' },
      /^--asterisk-ari: has an invalid user/,
    ],
    [
      { asteriskAri: ['http://a%3Ab@pbx/ari'], accountFrom: 'context' },
      /^--asterisk-ari: has an invalid user/,
    ],
    [
      { asteriskAri: ['http://a@pbx/ari?x=1'], accountFrom: 'context' },
      /^--asterisk-ari: .*without \? and #/,
    ],
    [{ asteriskAri: ['http://a@pbx/\r\nari'], accountFrom: 'context' }, /^--asterisk-ari: .*on one line/],
    [{ asteriskAri: ['pbx'], accountFrom: 'context' }, /^--asterisk-ari: must be a URL/],
    [{ asteriskAri: ['ftp://u@pbx'], accountFrom: 'context' }, /^--asterisk-ari: must be a URL/],
    [{ asteriskAri: ['http://pbx'], accountFrom: 'context' }, /the user is missing/],
    [{ asteriskAri: ['http://u:hush@pbx'], accountFrom: 'context' }, /must not contain a password/],
  ])('rejects %j', (flags, sentence) => {
    const { message } = errorOf(flags)
    expect(message).toMatch(sentence)
    expect(message).not.toMatch(/hush|:pw/)
  })

  it('accepts a Kamailio beside other switches, whatever --account-from is', () => {
    const flags = { ...NONE, kamailio: ['proxy'], freeswitch: ['pbx'], accountFrom: 'variable:X' }
    expect(chooseSwitches(flags, {})?.switches.map(({ kind }) => kind)).toEqual(['freeswitch', 'kamailio'])
    const rejected = { kamailio: ['proxy'], asteriskAmi: ['u@pbx'], accountFrom: 'realm' }
    expect(errorOf(rejected).message).toMatch(/cannot be realm with asterisk-ami/)
  })

  it('requires the passwords, one line each', () => {
    const chosen = { asteriskAmi: ['u@pbx'], accountFrom: 'context' }
    expect(errorOf(chosen, {}).message).toBe('HOOKSWITCH_AMI_SECRET: is required by --asterisk-ami')
    const empty = { HOOKSWITCH_AMI_SECRET: '' }
    expect(errorOf(chosen, empty).message).toBe('HOOKSWITCH_AMI_SECRET: must not be empty')
    const injected = { HOOKSWITCH_AMI_SECRET: 'a\r\nAction: Originate' }
    expect(errorOf(chosen, injected).message).toBe('HOOKSWITCH_AMI_SECRET: must be one line of text')
  })
})
