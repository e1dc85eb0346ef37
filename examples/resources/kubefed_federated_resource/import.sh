# <apiVersion>/<Kind>/[<namespace>/]<name>: every member that holds the object is found
terraform import kubefed_federated_resource.web apps/v1/Deployment/web/web
terraform import kubefed_federated_resource.namespace v1/Namespace/web
