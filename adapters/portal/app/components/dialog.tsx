/** A modal dialog of the browser's own: focus stays inside, Escape closes it. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import type { Action } from '../state/action.js'
import { t } from '../state/translate.js'

interface DialogProps {
  readonly title: string
  readonly children: ComponentChildren
  /** Absent: the dialog cannot be closed. */
  readonly onClose?: () => void
}

export function Dialog({ title, children, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const element = dialog.current!
    const opener = document.activeElement
    element.showModal()
    return () => {
      element.close()
      // The element is being taken out of the document, where the browser gives the focus back to nobody.
      queueMicrotask(() => {
        if (document.activeElement === document.body && opener instanceof HTMLElement) opener.focus()
      })
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        {onClose && (
          <button type="button" class="quiet" aria-label={t('action.close')} onClick={onClose}>
            ✕
          </button>
        )}
      </header>
      {children}
    </dialog>
  )
}

interface ConfirmButtonProps {
  readonly action: Action
  /** On the button, and the title of the question if it has no other. */
  readonly label: string
  readonly title?: string
  readonly text: ComponentChildren
  /** The verb on the button of the question. */
  readonly verb: string
  readonly isDangerous?: boolean
  readonly isDisabled?: boolean
  /** Class of the button. */
  readonly class?: string
}

/** A button that asks before something that cannot be undone, or that sends requests. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const { action, label, title = label, text, verb, isDangerous = false, isDisabled = false } = props
  const isAsking = useSignal(false)
  const close = () => {
    isAsking.value = false
  }
  return (
    <>
      <button
        type="button"
        class={props.class ?? ''}
        disabled={isDisabled}
        aria-disabled={action.isRunning.value}
        onClick={() => {
          isAsking.value = !action.isRunning.peek()
        }}
      >
        {label}
      </button>
      {isAsking.value && (
        <Dialog title={title} onClose={close}>
          <p>{text}</p>
          <p class="buttons">
            <button type="button" onClick={close}>
              {t('action.cancel')}
            </button>
            <button
              type="button"
              class={isDangerous ? 'danger' : 'primary'}
              onClick={() => {
                close()
                void action.run()
              }}
            >
              {verb}
            </button>
          </p>
        </Dialog>
      )}
    </>
  )
}
