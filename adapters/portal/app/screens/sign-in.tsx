/** The login: by user name, password and company, or by API key. With the host's login: a hint to sign in there. */
import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { logIn, statusOf } from '../api/api.js'
import { setDigest } from '../api/credentials.js'
import { hostSession } from '../api/host-session.js'
import { HAS_HOST_LOGIN, SETTINGS } from '../api/settings.js'
import { Brand } from '../components/brand.js'
import { Button } from '../components/button.js'
import { Field } from '../components/field.js'
import { lazy } from '../components/lazy.js'
import { expectNavigation } from '../components/page.js'
import { Note } from '../components/panel.js'
import { Seg } from '../components/seg.js'
import { describe } from '../state/action.js'
import { LANGUAGE_NAMES, LANGUAGES, language } from '../state/preferences.js'
import { begin, type Session } from '../state/session.js'
import { t } from '../state/translate.js'
import { sha1 } from '../text/sha1.js'

const Scene = lazy(
  async () => (await import('../components/scene.js')).Scene,
  () => <aside class="scene" />,
)

/** Where there is room for the picture. */
const WIDE = '(min-width: 1021px)'

setDigest(sha1)

export function SignIn() {
  useEffect(expectNavigation, [])
  useEffect(() => {
    document.title = `${t('login.title')} · ${SETTINGS.title}`
  })
  return (
    <div class="enter">
      <main id="main">
        <Brand href="#/" />
        <div class="mid">
          <h1 tabIndex={-1}>{t('login.title')}</h1>
          <p class="soft">{t(HAS_HOST_LOGIN ? 'login.hostLead' : 'login.lead')}</p>
          <LoginForm />
          {!HAS_HOST_LOGIN && <p class="soft small">{t('login.none')}</p>}
        </div>
        <p class="legal row">
          {LANGUAGES.map((code) => (
            <Language key={code} code={code} />
          ))}
          {SETTINGS.helpUrl !== undefined && (
            <a class="push" href={SETTINGS.helpUrl} rel="noreferrer">
              {t('menu.help', { title: SETTINGS.title })}
            </a>
          )}
        </p>
      </main>
      {matchMedia(WIDE).matches && <Scene />}
    </div>
  )
}

function Language({ code }: { readonly code: (typeof LANGUAGES)[number] }) {
  if (code === language.value) return <span>{LANGUAGE_NAMES[code]}</span>
  return (
    <button
      type="button"
      class="link"
      lang={code}
      onClick={() => {
        language.value = code
      }}
    >
      {LANGUAGE_NAMES[code]}
    </button>
  )
}

export function LoginForm() {
  return HAS_HOST_LOGIN ? <HostLogin /> : <OwnLogin />
}

/** Runs a login; the error is shown in the form. */
function useLogin() {
  const isRunning = useSignal(false)
  const error = useSignal('')
  const run = async (request: () => Promise<Session | undefined>) => {
    isRunning.value = true
    error.value = ''
    try {
      const found = await request()
      if (found) begin(found)
      else error.value = t('login.hostRefused')
    } catch (thrown) {
      error.value = statusOf(thrown) === 401 ? t('login.refused') : describe(thrown)
    } finally {
      isRunning.value = false
    }
  }
  return { isRunning, error, run }
}

function Problem({ error }: { readonly error: Signal<string> }) {
  if (error.value === '') return null
  return (
    <Note tone="bad" icon="fail" isAlert>
      {error.value}
    </Note>
  )
}

/** The user signs in to the host, in another tab or before; then the page gets the token again. */
function HostLogin() {
  const { isRunning, error, run } = useLogin()
  return (
    <div class="form">
      <p>{t('login.host')}</p>
      <Problem error={error} />
      <Button
        kind="primary"
        size="wide"
        busy={isRunning.value ? t('login.running') : undefined}
        onClick={() => void run(hostSession)}
      >
        {t('action.retry')}
      </Button>
    </div>
  )
}

function OwnLogin() {
  const way = useSignal<'key' | 'user'>('user')
  const apiKey = useSignal('')
  const username = useSignal('')
  const password = useSignal('')
  const realm = useSignal('')
  const form = useRef<HTMLFormElement>(null)
  const { isRunning, error, run } = useLogin()
  useEffect(() => {
    form.current!.querySelector<HTMLInputElement>('input:placeholder-shown')?.focus()
  }, [way.value])
  const submit = (event: Event) => {
    event.preventDefault()
    if (isRunning.value) return
    const user = {
      username: username.value.trim(),
      password: password.value,
      realm: realm.value.trim(),
      // The digest is computed here; browsers have no MD5, and their SHA-1 only on secure origins.
      method: 'sha' as const,
    }
    void run(() => logIn(way.value === 'key' ? { apiKey: apiKey.value.trim() } : { user }))
  }
  return (
    <form ref={form} class="form" onSubmit={submit}>
      <Seg
        label={t('login.way')}
        isEven
        options={[
          { value: 'user', text: t('login.byUser') },
          { value: 'key', text: t('login.byKey') },
        ]}
        value={way.value}
        onChange={(value) => {
          way.value = value
        }}
      />
      {way.value === 'key' ? (
        <SecretField label={t('login.apiKey')} value={apiKey} />
      ) : (
        <>
          <Field label={t('login.realm')} hint={t('login.realmHint')}>
            <Input value={realm} autocomplete="organization" />
          </Field>
          <Field label={t('login.username')}>
            <Input value={username} autocomplete="username" />
          </Field>
          <SecretField label={t('login.password')} value={password} />
        </>
      )}
      <Problem error={error} />
      <Button
        kind="primary"
        size="wide"
        type="submit"
        busy={isRunning.value ? t('login.running') : undefined}
      >
        {t('login.submit')}
      </Button>
    </form>
  )
}

interface InputProps {
  readonly value: Signal<string>
  readonly autocomplete: string
  readonly isHidden?: boolean
}

/** What browsers hide as it is typed. */
const SECRET = { type: 'password' } as const

function Input({ value, autocomplete, isHidden = false, ...field }: InputProps) {
  return (
    <input
      {...field}
      required
      {...(isHidden && SECRET)}
      // Empty fields are found by it.
      placeholder=" "
      value={value.value}
      autocomplete={autocomplete}
      autocapitalize="none"
      spellcheck={false}
      onInput={(event) => {
        value.value = event.currentTarget.value
      }}
    />
  )
}

/** A field whose text is hidden until the user wants to see it. */
function SecretField({ label, value }: { readonly label: string; readonly value: Signal<string> }) {
  const isShown = useSignal(false)
  return (
    <Field label={label}>
      <Input value={value} autocomplete="current-password" isHidden={!isShown.value} />
      <Button
        kind="quiet"
        size="tiny"
        label={t(isShown.value ? 'login.hideSecret' : 'login.showSecret', { label })}
        onClick={() => {
          isShown.value = !isShown.value
        }}
      >
        {t(isShown.value ? 'action.hide' : 'action.show')}
      </Button>
    </Field>
  )
}
