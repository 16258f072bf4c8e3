//! Forwards calls of a store to the store behind it.

/// Defines the methods of [`store::Store`] that carry no job, each as a call of the same method of the field `$inner`. A store of a test defines
/// `submit` and `query` itself.
#[macro_export]
macro_rules! forward_to_store {
    ($inner:ident) => {
        fn publish(&self, topics: &[::store::Topic]) {
            self.$inner.publish(topics);
        }

        fn listen(&self, listener: ::std::sync::Arc<dyn Fn(::store::Topic) + Send + Sync>) {
            self.$inner.listen(listener);
        }

        fn is_shared(&self) -> bool {
            self.$inner.is_shared()
        }

        fn close(&self) {
            self.$inner.close();
        }
    };
}
