import { errorCode } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import { chooseSwitches, type SwitchFlags } from '../../../adapters/cli/switch-choice.js'

const NONE: SwitchFlags = { freeswitch: [], asteriskAmi: [], asteriskAri: [], kamailio: [] }
const ENV = { HOOKSWITCH_AMI_SECRET: 's3cret', HOOKSWITCH_ARI_PASSWORD: 'p4ss' }

function refusalOf(flags: Partial<SwitchFlags>, env: Record<string, string> = ENV): Error {
  try {
    chooseSwitches({ ...NONE, ...flags }, env)
  } catch (thrown) {
    expect(errorCode(thrown)).toBe('InvalidOption')
    return thrown as Error
  }
  throw new Error('was accepted')
}

describe('the switches of the flags', () => {
  it('are none where none is named', () => {
    expect(chooseSwitches(NONE, ENV)).toBeUndefined()
  })

  it('have the ports that their switches listen on, and the passwords of the environment', () => {
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

  it('tell the account by the realm where nothing else is told', () => {
    expect(chooseSwitches({ ...NONE, kamailio: ['proxy'] }, {})).toEqual({
      accountFrom: { kind: 'realm' },
      switches: [{ kind: 'kamailio', host: 'proxy', port: 8448 }],
    })
  })

  it.each([
    [{ freeswitch: ['pbx'] }, /^--account-from: is missing/],
    [{ accountFrom: 'realm' }, /^--account-from: is for switches/],
    [{ freeswitch: ['pbx'], accountFrom: 'variable' }, /^--account-from: needs a name: variable:NAME/],
    [{ freeswitch: ['pbx'], accountFrom: 'variable:a b' }, /^--account-from: needs a name/],
    [{ freeswitch: ['pbx'], accountFrom: 'realm:x' }, /^--account-from: realm takes no name/],
    [{ freeswitch: ['pbx'], accountFrom: 'color' }, /^--account-from: must be variable:NAME, .* not 'color'/],
    [{ asteriskAri: ['http://u@pbx'], accountFrom: 'realm' }, /cannot be realm with asterisk-ari/],
    [{ kamailio: ['p'], accountFrom: 'variable:a' }, /cannot be variable with kamailio, which tells realm/],
    [{ asteriskAmi: ['u@pbx'], accountFrom: 'sip-header:X-A' }, /cannot be sip-header with asterisk-ami/],
    [{ freeswitch: ['pbx:0'], accountFrom: 'realm' }, /^--freeswitch: must be HOST or HOST:PORT/],
    [{ freeswitch: ['pbx:99999'], accountFrom: 'realm' }, /^--freeswitch: must be/],
    [{ freeswitch: ['a b'], accountFrom: 'realm' }, /^--freeswitch: must be/],
    [{ freeswitch: [''], accountFrom: 'realm' }, /^--freeswitch: must be/],
    [{ asteriskAmi: ['pbx'], accountFrom: 'context' }, /^--asterisk-ami: must be USER@HOST:PORT/],
    [{ asteriskAmi: ['u:pw@pbx'], accountFrom: 'context' }, /^--asterisk-ami: must be USER@HOST:PORT/],
    [{ asteriskAmi: ['u@127.0.0.1:x'], accountFrom: 'context' }, /^--asterisk-ami: must be .*USER@HOST:PORT/],
    [{ asteriskAmi: ['u\r\nx@pbx'], accountFrom: 'context' }, /^--asterisk-ami: must be USER@HOST:PORT/],
    [{ asteriskAri: ['http://%zz@pbx/ari'], accountFrom: 'context' }, /^--asterisk-ari: has a user that no/],
    [{ asteriskAri: ['http://a%0d%0ab@pbx'], accountFrom: 'context' }, /^--asterisk-ari: has a user that no/],
    [
      { asteriskAri: ['http://a%3Ab@pbx/ari'], accountFrom: 'context' },
      /^--asterisk-ari: has a user that no/,
    ],
    [
      { asteriskAri: ['http://a@pbx/ari?x=1'], accountFrom: 'context' },
      /^--asterisk-ari: .*without \? and #/,
    ],
    [{ asteriskAri: ['http://a@pbx/\r\nari'], accountFrom: 'context' }, /^--asterisk-ari: .*on one line/],
    [{ asteriskAri: ['pbx'], accountFrom: 'context' }, /^--asterisk-ari: must be a URL/],
    [{ asteriskAri: ['ftp://u@pbx'], accountFrom: 'context' }, /^--asterisk-ari: must be a URL/],
    [{ asteriskAri: ['http://pbx'], accountFrom: 'context' }, /the user is missing/],
    [{ asteriskAri: ['http://u:hush@pbx'], accountFrom: 'context' }, /must hold no password/],
  ])('are refused: %j', (flags, sentence) => {
    const { message } = refusalOf(flags)
    expect(message).toMatch(sentence)
    expect(message).not.toMatch(/hush|:pw/)
  })

  it('may be a Kamailio beside others, looked up by realm whatever tells of theirs', () => {
    const flags = { ...NONE, kamailio: ['proxy'], freeswitch: ['pbx'], accountFrom: 'variable:X' }
    expect(chooseSwitches(flags, {})?.switches.map(({ kind }) => kind)).toEqual(['freeswitch', 'kamailio'])
    const refused = { kamailio: ['proxy'], asteriskAmi: ['u@pbx'], accountFrom: 'realm' }
    expect(refusalOf(refused).message).toMatch(/cannot be realm with asterisk-ami/)
  })

  it('need their passwords, one line each', () => {
    const asked = { asteriskAmi: ['u@pbx'], accountFrom: 'context' }
    expect(refusalOf(asked, {}).message).toBe('HOOKSWITCH_AMI_SECRET: is missing: --asterisk-ami needs it')
    const empty = { HOOKSWITCH_AMI_SECRET: '' }
    expect(refusalOf(asked, empty).message).toBe('HOOKSWITCH_AMI_SECRET: must not be empty')
    const smuggled = { HOOKSWITCH_AMI_SECRET: 'a\r\nAction: Originate' }
    expect(refusalOf(asked, smuggled).message).toBe('HOOKSWITCH_AMI_SECRET: must be a text of one line')
  })
})
